"""Problems and texts that the library makes up itself."""
