"""What is done with templates: finding one to send, writing and submitting versions, deciding on them."""

from api.templates.usecases.create_template import CreateTemplate
from api.templates.usecases.find_template import FindTemplate

__all__ = ["CreateTemplate", "FindTemplate"]
