# A worker of a fleet. It needs the packed command beside it:
#
#   npm pack
#   docker build -f app/fleet/deploy/worker.Dockerfile -t dray-worker:0.1.0 .
#
# To have the very same base at each build, add the digest that your registry shows: node:...@sha256:...
FROM node:24.21.0-bookworm-slim AS install
COPY dray-0.1.0.tgz /tmp/
# Temporal's packages, and those for --traces. None needs its install script: they bring binaries for Debian.
RUN npm install --global --prefix /opt/dray --ignore-scripts --no-audit --no-fund /tmp/dray-0.1.0.tgz \
    @temporalio/activity@1.24.0 @temporalio/client@1.24.0 @temporalio/common@1.24.0 \
    @temporalio/worker@1.24.0 @temporalio/workflow@1.24.0 \
    @temporalio/interceptors-opentelemetry@1.24.0 @opentelemetry/sdk-trace-node@1.30.1 \
    @opentelemetry/exporter-trace-otlp-http@0.57.2 @opentelemetry/resources@1.30.1

FROM node:24.21.0-bookworm-slim
COPY --from=install /opt/dray /opt/dray
# The root file system may be read-only: all that a worker writes lies in /tmp.
ENV PATH=/opt/dray/bin:$PATH \
    NODE_ENV=production \
    HOME=/tmp
# The image's user "node". Kubernetes sees from a number that it is not root.
USER 1000:1000
EXPOSE 9464
# A first SIGTERM makes the worker take no more parts, and give back those that need longer than 20 seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:9464/metrics').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["dray", "fleet", "worker", "--metrics", ":9464"]
