"""The only loops: claim, settle, retry, wake; and the change that commits and tells."""
