# Pagekeep's server. Build: docker build -t pagekeep .
# Two stages: what is needed to build does not travel with what runs.

# A version, not a digest. To build from the very bytes that you checked:
# docker build --build-arg PYTHON_IMAGE=python:3.13.7-slim-bookworm@sha256:... -t pagekeep .
ARG PYTHON_IMAGE=python:3.13.7-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /build
# scripts/make_container_requirements.py writes them: to be run again when pyproject.toml changes.
COPY contrib/requirements.txt contrib/build-requirements.txt ./
# Every package is installed by its hash, also those that build ours.
RUN python -m venv /opt/build && python -m venv /opt/pagekeep \
 && /opt/build/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r build-requirements.txt \
 && /opt/pagekeep/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r requirements.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY docs docs
COPY extension extension
COPY src src
# The last command makes the prebuilt copy of the rules, which the server's user cannot write.
RUN /opt/build/bin/pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir wheel . \
 && /opt/pagekeep/bin/pip install --no-cache-dir --no-index --no-deps wheel/*.whl \
 && /opt/pagekeep/bin/pip check \
 && /opt/pagekeep/bin/pagekeep rules list >/dev/null

FROM ${PYTHON_IMAGE}
# The small Chromium without a window renders pages that are empty without their scripts. Fonts are not needed for that.
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium-headless-shell \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --create-home --home-dir /var/lib/pagekeep --shell /usr/sbin/nologin pagekeep
COPY --from=build /opt/pagekeep /opt/pagekeep
ENV PATH=/opt/pagekeep/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    XDG_DATA_HOME=/var/lib/pagekeep/data \
    XDG_CONFIG_HOME=/var/lib/pagekeep/config
# Not root, so that Chromium can have its sandbox; it also needs user namespaces (contrib/seccomp.json), else nothing is rendered.
USER pagekeep
WORKDIR /var/lib/pagekeep
RUN mkdir -p data config
VOLUME /var/lib/pagekeep/data
EXPOSE 8470
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8470/readyz', timeout=4)"
STOPSIGNAL SIGTERM
# Inside a container the loopback is the container's own, so it listens to all, and lets in only people who sign in:
# add one first with `docker compose run --rm pagekeep user add NAME`.
ENTRYPOINT ["pagekeep"]
CMD ["serve", "--shared", "--host", "0.0.0.0"]
