# Pagekeep's server. Build: docker build -t pagekeep .
# Two stages: what is needed to build does not travel with what runs.

FROM python:3.13.7-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY docs docs
COPY extension extension
COPY src src
# The last command makes the prebuilt copy of the rules, which the server's user cannot write.
RUN python -m venv /opt/pagekeep \
 && /opt/pagekeep/bin/pip install --no-cache-dir '.[browser,documents,feeds,mcp,postgres,server]' \
 && /opt/pagekeep/bin/pagekeep rules list >/dev/null

FROM python:3.13.7-slim-bookworm
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
