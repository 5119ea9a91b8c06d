# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that source this file
# The Docker engine that tests and stacks use: where the private one lives, and how docker finds its plugins.

ENGINE_DATA=${LIFELINE_ENGINE_DIR:-/var/lib/lifeline-engine} # images and volumes, kept between starts
ENGINE_RUN=/run/lifeline-engine
PRIVATE_HOST=unix://$ENGINE_RUN/docker.sock
# Locks among all clones of this repository that this user runs on this machine.
LOCKS=$ENGINE_RUN
((EUID == 0)) || LOCKS=${XDG_RUNTIME_DIR:-/tmp}/lifeline-engine-$EUID
IMAGES_IN_USE=$LOCKS/images-in-use # shared by runs of tests, exclusive for who gives an image's name to another
ENGINE_UNAVAILABLE=69              # exit status of `scripts/engine run` where no engine can be had
DOCKER_PLUGINS=$DEPS/docker/cli-plugins

engine_answers() { docker version --format '{{.Server.Version}}' 2>/dev/null | grep -q .; }
has_compose() { [[ $(docker compose version --short 2>/dev/null) =~ ^v?([2-9]|[1-9][0-9]) ]]; }

# use_docker: from here on `docker` speaks to the private engine if that runs and no other was asked for, and finds the
# plugins that scripts/setup fetched where docker has none of its own.
use_docker() {
  [[ -n ${DOCKER_HOST:-} || ! -S $ENGINE_RUN/docker.sock ]] || export DOCKER_HOST=$PRIVATE_HOST
  has_compose || [[ ! -x $DOCKER_PLUGINS/docker-compose ]] || export DOCKER_CONFIG=${DOCKER_PLUGINS%/*}
}
