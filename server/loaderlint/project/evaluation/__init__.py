"""What expressions may be, across files, without running anything."""
