"""The doors to templates: the client's and the operator's."""
