# ioxide with its solver: `docker build -t ioxide .`, then
# `docker run --rm -v "$PWD:/work" ioxide test model.iox --sut model:model.iox`.
FROM rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package ioxide-cli

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libz3-4 python3 ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/release/ioxide /usr/local/bin/ioxide
RUN ioxide doctor --report /tmp/runs && useradd --create-home ioxide
USER ioxide
WORKDIR /work
ENTRYPOINT ["ioxide"]
CMD ["--help"]
