# One image per service: docker build --build-arg SERVICE=api -t pilot-status/api .
# SERVICE is a Python package: api, dispatcher, status_ingest, notifier, reconciler or evolution_simulator.
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS dependencies
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
WORKDIR /build
COPY requirements-build.lock requirements-runtime.lock ./
RUN python -m venv /opt/build \
    && python -m venv --without-pip /opt/pilot \
    && /opt/build/bin/pip install --no-cache-dir --require-hashes -r requirements-build.lock \
    && /opt/build/bin/pip --python /opt/pilot/bin/python install \
        --no-cache-dir --require-hashes --only-binary :all: -r requirements-runtime.lock

# The workspace's own packages, without the network; installing them proves that the lock satisfies them.
FROM dependencies AS service
ARG SERVICE
COPY libs libs
COPY services services
COPY tools tools
RUN : "${SERVICE:?give --build-arg SERVICE=<python package>}" \
    && /opt/build/bin/pip wheel --no-deps --no-build-isolation --no-index --wheel-dir wheels \
        libs/contracts libs/chassis libs/gateways "$(echo ./*/*/src/"${SERVICE}")/../.." \
    && /opt/build/bin/pip --python /opt/pilot/bin/python install --no-index --find-links wheels \
        --prefix /opt/service ./wheels/*.whl \
    && printf 'import runpy\n\nrunpy.run_module("%s", run_name="__main__", alter_sys=True)\n' "${SERVICE}" \
        > "$(dirname /opt/service/lib/python*/site-packages/chassis)/entry.py"

FROM ${PYTHON_IMAGE}
ARG SERVICE
ARG VERSION=0.1.0
ARG HEALTH_PATH=/live
LABEL org.opencontainers.image.title="pilot-status ${SERVICE}" \
      org.opencontainers.image.description="The open platform that sends WhatsApp messages and can always explain where each one is." \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/opt/pilot/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1 \
    HTTP_HOST=0.0.0.0 HTTP_PORT=8000 HEALTH_PATH=${HEALTH_PATH}
COPY --from=dependencies /opt/pilot /opt/pilot
COPY --from=service /opt/service /opt/pilot
WORKDIR /opt/pilot
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['HTTP_PORT'] + os.environ['HEALTH_PATH'], timeout=2)"]
# `entry` starts the package of this image; `docker run … api migrate` works on its schema.
ENTRYPOINT ["python", "-m"]
CMD ["entry"]
