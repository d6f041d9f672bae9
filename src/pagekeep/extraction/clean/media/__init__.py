"""Images, figures and embeds."""
