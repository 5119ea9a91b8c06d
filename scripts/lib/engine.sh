# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source this file
# The Docker engine that tests and stacks use: where the private one lives, and how docker finds its plugins.

ENGINE_DATA=${LIFELINE_ENGINE_DIR:-/var/lib/lifeline-engine} # images and volumes, kept between starts
ENGINE_RUN=/run/lifeline-engine
DOCKER_PLUGINS=$DEPS/docker/cli-plugins

engine_answers() { docker version --format '{{.Server.Version}}' 2>/dev/null | grep -q .; }
has_compose() { [[ $(docker compose version --short 2>/dev/null) =~ ^v?([2-9]|[1-9][0-9]) ]]; }

# use_docker: from here on `docker` speaks to the private engine if that runs and no other was asked for, and finds the
# plugins that scripts/setup fetched where docker has none of its own.
use_docker() {
  [[ -n ${DOCKER_HOST:-} || ! -S $ENGINE_RUN/docker.sock ]] || export DOCKER_HOST=unix://$ENGINE_RUN/docker.sock
  has_compose || [[ ! -x $DOCKER_PLUGINS/docker-compose ]] || export DOCKER_CONFIG=${DOCKER_PLUGINS%/*}
}
