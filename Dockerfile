# The gateway in a container: docs/README.md.
FROM node:24-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
# Not "npm ci": the lock file has the packages of one platform only. The development packages bring a Node of their own by a script, which the image does not need.
RUN npm install --ignore-scripts --no-save --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs && npm pack --pack-destination /tmp

FROM node:24-slim
COPY --from=build /tmp/longhaul-*.tgz /tmp/
# The other packages are for a store in PostgreSQL and its tasks: docs/deploying.md.
RUN npm install --global --omit=dev --no-audit --no-fund /tmp/longhaul-*.tgz pg@8.23.1 pg-boss@12.35.0 \
  && rm -rf /tmp/longhaul-*.tgz /root/.npm \
  && mkdir /data && chown node:node /data && chmod 700 /data
ENV LONGHAUL_HOME=/data NODE_ENV=production
USER node
WORKDIR /data
VOLUME /data
EXPOSE 4747
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:4747/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "/usr/local/lib/node_modules/longhaul/dist/cli/main.js"]
CMD ["serve", "--host", "0.0.0.0"]
