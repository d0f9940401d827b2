"""Write the API's document anew from the code."""

from tools.openapi.document import SERVED, build, rendered

if __name__ == "__main__":
    SERVED.write_text(rendered(build()))
