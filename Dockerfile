# syntax=docker/dockerfile:1
# Server, runner and holder in one container. A stop of the container ends the agents in it: the next start records
# them as `unknown` (nobody saw their end) and keeps their work. Use the systemd units where agents must outlive upgrades.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /opt/drover
COPY . .
RUN node scripts/setup.mjs

FROM ${BASE}
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/*
# The CLIs that this fleet uses, e.g. --build-arg CLIS="@anthropic-ai/claude-code @openai/codex"
ARG CLIS=""
RUN if [ -n "$CLIS" ]; then npm install -g $CLIS && npm cache clean --force; fi
COPY --from=build /opt/drover /opt/drover
RUN useradd --create-home --uid 10001 drover && install -d -o drover -g drover -m 0700 /data
ENV DROVER_HOME=/data DROVER_HOST=0.0.0.0 NODE_COMPILE_CACHE=/data/compiled MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
ENV PATH=/opt/drover/bin:$PATH
USER drover
WORKDIR /data
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.DROVER_PORT || 8420}/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# tini reaps what agents leave behind.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["/opt/drover/node_modules/.bin/node", "--max-semi-space-size=4", "--max-old-space-size=1024", "/opt/drover/dist/server/main.js"]
