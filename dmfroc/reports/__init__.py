"""Reports for the browser and the notebook: what was found, for people who did not run it."""
