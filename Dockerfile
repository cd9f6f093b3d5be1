# docker build --tag animal-store .
# docs/operations/deploy.md says how to run it. The second stage needs no shell, so a distroless base works.
# No digest: it was not known when this version was written. To pin one, add @sha256:... of the index for all
# processors: docker buildx imagetools inspect node:26.10.0-bookworm-slim
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /app
COPY . .
# Without the optional Node.js of the repository: the image has its own.
RUN npm ci && node tools/build.mjs && npm prune --omit=dev --omit=optional && mkdir /data
# Removes types, source maps and documents, and the link to the Node.js of the repository.
RUN find node_modules build -type f ! -iname 'licen*' \
      \( -name '*.d.*ts' -o -name '*.map' -o -name '*.md' -o -name '*.tsbuildinfo' \) -delete \
    && rm -r node_modules/@animal-store \
    && chmod +x build/src/bootstrap/main.js \
    && ln -s ../../build/src/bootstrap/main.js node_modules/.bin/animal-store

FROM node:26.10.0-bookworm-slim
LABEL org.opencontainers.image.title="animal-store" \
      org.opencontainers.image.description="The animal store, a service over HTTP" \
      org.opencontainers.image.version="0.4.0" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/build/src ./build/src
COPY --from=build --chown=1000:1000 /data /data
USER 1000
ENV PATH=$PATH:/app/node_modules/.bin
ENV HOST=0.0.0.0 PORT=8080 STORE_URL=sqlite:/data/animal-store.db
VOLUME /data
EXPOSE 8080
# Not fetch, which costs twice the processor time.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "require('http').get({ host: '127.0.0.1', port: process.env.PORT, path: '/livez' }, (response) => process.exit(response.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "build/src/bootstrap/main.js", "serve"]
