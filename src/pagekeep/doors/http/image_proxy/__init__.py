"""Pictures of saved pages, fetched by the server: the sites they are on never see who reads, and when."""
