"""The pages of the site: as values, which programs get as JSON, and as HTML. They know no server."""
