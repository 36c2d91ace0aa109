"""Statistics and procedures that only the source papers need."""
