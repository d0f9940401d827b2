"""What calls of paid models cost, by who made them, and the ceilings that end them."""
