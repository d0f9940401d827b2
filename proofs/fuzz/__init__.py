"""No input causes a 5xx, or an answer that the API's document does not know."""
