"""`/api/v1/lists`, `/api/v1/save-rules` and changes of many items."""
