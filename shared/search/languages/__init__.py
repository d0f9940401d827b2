"""The languages of texts and questions, and the words that their scripts need."""
