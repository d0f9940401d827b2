"""Ways through the models, walked again on Postgres with the services' own SQL, step by step."""
