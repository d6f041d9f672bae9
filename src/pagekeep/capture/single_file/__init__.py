"""One HTML file with everything that a page shows: no scripts, each picture and font once, and a list of what is missing."""

from __future__ import annotations

from pagekeep.capture.single_file.task import DecodeTask, Missing, SingleFile, SingleFileTask

__all__ = ["DecodeTask", "Missing", "SingleFile", "SingleFileTask"]
