#!/usr/bin/env bash
#
# kanboard-dev.sh - a real Kanboard on 127.0.0.1 for development, tests and `mesh up`, from nothing
# but Debian packages, without root and without installing anything into the system.
#
#   kanboard-dev.sh install [--force] [--postgres]
#   kanboard-dev.sh start   [--data DIR] [--port P] [--workers N] [--server php|fpm] [--pgbouncer]
#   kanboard-dev.sh stop    [--data DIR]
#   kanboard-dev.sh status  [--data DIR]
#   kanboard-dev.sh token   [--data DIR]         prints the API token
#   kanboard-dev.sh user NAME [--data DIR]       sets that user's password or personal token
#   kanboard-dev.sh reset   [--data DIR]         forgets all data
#
# Environment. Secrets come only this way: everybody on the machine can read arguments.
#   KANBOARD_DEV_HOME          what `install` unpacks (default: ~/.cache/kanboard-dev)
#   KANBOARD_DATABASE_URL      postgres://user:password@host:port/name, percent-encoded; absent: SQLite
#   KANBOARD_TOKEN             the application's API token; absent: the one in the database, made by Kanboard
#   KANBOARD_ADMIN_PASSWORD    absent: random at the first start, kept in DIR/admin.password
#   KANBOARD_WEBHOOK_URL, KANBOARD_WEBHOOK_TOKEN   set at `start`; empty takes them away, absent keeps them
#   KANBOARD_USER_PASSWORD, KANBOARD_USER_TOKEN    for `user`; at least one
#   KANBOARD_DEBIAN_MIRROR     absent: the one that this machine's apt uses
#   KANBOARD_DEBUG             true: Kanboard writes a debug log
#
# Exit codes: 0; 1 it failed; 2 the command line; 3 `status`: not running; 4 `start`: the port is taken.
#
# How it works
#   * A private apt state (lists, cache, sources of its own) knows the host's own Debian release plus
#     sid, with sid pinned so low that only packages missing from the release come from it: that is
#     kanboard itself. PHP, its libraries, nginx and pgbouncer are the release's own.
#   * Release files are checked with the Debian archive keyring (signed-by=), and each .deb by its hash.
#   * The .debs are unpacked with `dpkg -x` into a private root: no maintainer scripts, no root
#     rights, nothing to undo (delete the folder).
#   * --postgres adds the release's PostgreSQL server: for tests on a machine that has none.
#   * Paths that Debian bakes into kanboard are rewritten to the private root; all settings go
#     through the environment variables that Kanboard reads by itself.
#
# shellcheck disable=SC2016 # single quotes around PHP
set -euo pipefail
export LC_ALL=C

HOME_DIR=${KANBOARD_DEV_HOME:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kanboard-dev}
DATA=$HOME_DIR/data
PORT=8085
WORKERS=
SERVER=php
PGBOUNCER=
POSTGRES=
FORCE=
DB_URL=${KANBOARD_DATABASE_URL:-}

ROOT=$HOME_DIR/root            # unpacked packages
APT=$HOME_DIR/apt              # private apt state
APP=$ROOT/usr/share/kanboard   # Kanboard's document root
STAMP=$HOME_DIR/installed      # written last; names what is unpacked

say() { printf 'kanboard-dev: %s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# One at a time: LOCKFILE stays locked until this process ends. Servers are started without fd 9.
alone() { exec 9>"$1"; flock 9; }

# ----------------------------------------------------------------- install --

# The first address in the host's own apt sources that ends with PATH.
host_mirror() {
  grep -rhoE "https?://[^ ]+$1/?( |\$)" /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
    grep -v snapshot | head -n1 | tr -d ' ' | sed 's#/*$##' || true
}

apt_conf() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg codename mirror security
  [ -r "$keyring" ] || die "$keyring is missing (package debian-archive-keyring)"
  # shellcheck disable=SC1091
  codename=$(. /etc/os-release; echo "${VERSION_CODENAME:-bookworm}")
  mirror=${KANBOARD_DEBIAN_MIRROR:-$(host_mirror /debian)}
  [ -n "$mirror" ] || die "no Debian mirror is configured on this host (set KANBOARD_DEBIAN_MIRROR)"
  security=$(host_mirror /debian-security)

  mkdir -p "$APT"/{etc/preferences.d,state/lists/partial,cache/archives/partial}
  {
    echo "deb [signed-by=$keyring] $mirror $codename main"
    [ -z "$security" ] || echo "deb [signed-by=$keyring] $security $codename-security main"
    echo "deb [signed-by=$keyring] $mirror sid main"
  } >"$APT/etc/sources.list"
  printf 'Package: *\nPin: release a=unstable\nPin-Priority: 50\n' >"$APT/etc/preferences"
  cat >"$APT/apt.conf" <<CONF
Dir::Etc::main "/etc/apt/apt.conf";
Dir::Etc::parts "/etc/apt/apt.conf.d";
Dir::Etc::sourcelist "$APT/etc/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "$APT/etc/preferences";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$APT/state";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "$APT/cache";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::Retries "3";
// Signatures are checked as always. Only the age limit is lifted: sid's Release files expire
// after a week, and a mirror that lags is fine here.
Acquire::Check-Valid-Until "false";
Acquire::Check-Date "false";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Debug::NoLocking "true";
CONF
}
# APT_CONFIG is read first and names the system's own configuration (proxies and the like) to be
# read after it; only the directories differ. (Docker images switch apt's binary cache off, which
# makes each call slow.)
APT_FAST=(-o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin)
aptget()   { APT_CONFIG=$APT/apt.conf apt-get "${APT_FAST[@]}" "$@"; }
aptcache() { APT_CONFIG=$APT/apt.conf apt-cache "${APT_FAST[@]}" "$@"; }

# Names from stdin -> those that are PHP libraries (arch:all, not PHP itself).
only_php_libraries() {
  grep -E '^php-' | sort -u | xargs -r env APT_CONFIG="$APT/apt.conf" apt-cache "${APT_FAST[@]}" show --no-all-versions 2>/dev/null |
    awk '/^Package:/{p=$2; a=""; s=""} /^Architecture:/{a=$2} /^Source:/{s=$2}
         /^$/{ if (p!="" && a=="all" && s!="php-defaults") print p; p="" }
         END { if (p!="" && a=="all" && s!="php-defaults") print p }' | sort -u
}

download() {
  local php roots libs runtime missing postgres='' pgbouncer=''
  php=$1
  runtime="$php-cli $php-fpm $php-common $php-opcache $php-sqlite3 $php-pgsql $php-mbstring $php-gd $php-xml $php-curl nginx nginx-common"
  if aptcache show pgbouncer >/dev/null 2>&1; then pgbouncer=pgbouncer; fi
  if [ -n "$POSTGRES" ]; then
    postgres=$(aptcache depends postgresql | awk '$1=="Depends:" && $2 ~ /^postgresql-[0-9]+$/ {print $2; exit}')
    postgres="$postgres ${postgres/postgresql/postgresql-client}"
  fi

  # PHP libraries: those kanboard names, then everything they need in turn.
  roots=$(aptcache depends kanboard | awk '$1 ~ /Depends:/ {print $2}' | only_php_libraries)
  # shellcheck disable=SC2086
  libs=$(aptcache depends --recurse --important $roots | grep -E '^[a-z]' | only_php_libraries)
  libs="$libs composer fonts-font-awesome libjs-jquery-ui"   # composer: only its ClassLoader is used

  # Shared libraries that these programs need and this machine lacks (often none). libllvm is for
  # PostgreSQL's JIT only, which is taken out.
  # shellcheck disable=SC2086
  missing=$(aptget -s install $runtime $pgbouncer $postgres 2>/dev/null | awk '$1=="Inst" {print $2}' |
            grep -E '^lib' | grep -v -E '^libnginx|^libphp|^libapache|^libllvm|-perl$' || true)

  say "downloading packages"
  # shellcheck disable=SC2086
  (cd "$HOME_DIR/debs" && aptget -qq download kanboard $runtime $libs $pgbouncer $postgres $missing) || die "download failed"
}

# A php.ini that loads the unpacked extensions, in Debian's load order.
php_ini() {
  local php=$1 api f prio
  api=$(basename "$(find "$ROOT/usr/lib/php" -maxdepth 1 -type d -name '20*' | head -n1)")
  echo "; generated by kanboard-dev.sh"
  echo "extension_dir = $ROOT/usr/lib/php/$api"
  echo "include_path = .:$ROOT/usr/share/php"
  for f in "$ROOT"/usr/share/"$php"-*/*/*.ini; do
    case $(basename "$f") in ffi.ini|readline.ini) continue;; esac
    prio=$(sed -n 's/^; priority=//p' "$f"); echo "${prio:-20} $(grep -hE '^(zend_)?extension=' "$f")"
  done | sort -u | cut -d' ' -f2-
  cat <<INI
date.timezone = UTC
memory_limit = 256M
post_max_size = 64M
upload_max_filesize = 64M
max_execution_time = 60
display_errors = 0
log_errors = 1
error_reporting = E_ALL & ~E_DEPRECATED & ~E_STRICT
opcache.enable = 1
opcache.validate_timestamps = 0
opcache.max_accelerated_files = 10000
opcache.memory_consumption = 128
session.save_path = /tmp
INI
}

# Makes the unpacked Kanboard run where it lies.
relocate() {
  # (1) baked-in library paths -> private root.
  grep -rlE "'/usr/share/php/" "$APP/vendor/autoload.php" "$ROOT/usr/share/php" --include=autoload.php |
    xargs -r sed -i "s#'/usr/share/php/#'$ROOT/usr/share/php/#g"
  # (2) Kanboard wants only Composer's ClassLoader (for plugins), not composer.
  sed -i "s#/Composer/autoload.php#/Composer/Autoload/ClassLoader.php#" "$APP/vendor/autoload.php"
  # (3) config.php is a link to /etc/kanboard/config.php, which hard-codes data paths; without it
  #     Kanboard takes all settings from the environment.
  rm -f "$APP/config.php"
  [ -e "$APP/.htaccess" ] || rm -f "$APP/.htaccess"
  rm -rf "$ROOT"/usr/lib/postgresql/*/lib/{bitcode,llvmjit*.so}
}

check_unpacked() {
  php_cli -r '
    foreach (["pdo_sqlite","pdo_pgsql","gd","mbstring","hash","openssl","json","ctype","filter","session","dom","SimpleXML","xml","curl"] as $e)
      if (!extension_loaded($e)) { fwrite(STDERR, "missing PHP extension $e\n"); exit(1); }
    preg_match_all("/require_once .([^\x27]+\.php)/", file_get_contents($argv[1]), $m);
    foreach ($m[1] as $f) if ($f[0] === "/" && !is_file($f) && strpos($f, "/app/") !== 0) { fwrite(STDERR, "missing library $f\n"); exit(1); }
  ' "$APP/vendor/autoload.php" || die "the unpacked tree is incomplete"
  if [ -e "$ROOT/usr/sbin/pgbouncer" ] && ! "${UNPACKED[@]}" "$ROOT/usr/sbin/pgbouncer" --version >/dev/null 2>&1; then
    say "pgbouncer does not run here; going without it"
    rm "$ROOT/usr/sbin/pgbouncer"
  fi
}

cmd_install() {
  mkdir -p "$HOME_DIR"
  for tool in apt-get apt-cache dpkg awk sed flock setsid; do
    command -v "$tool" >/dev/null || die "needs $tool, that is, a Debian system"
  done
  alone "$HOME_DIR/lock"
  if [ -e "$STAMP" ] && [ -z "$FORCE" ]; then
    say "already installed: $(tr '\n' ' ' <"$STAMP")"
    return 0
  fi
  local t0=$SECONDS php deb
  apt_conf
  say "installing below $HOME_DIR, only this once"
  say "refreshing private package lists"
  aptget -qq update >"$APT/update.log" 2>&1 || { cat "$APT/update.log" >&2; die "apt-get update failed"; }
  aptcache show kanboard >/dev/null 2>&1 || die "the mirror offers no kanboard package"
  # php8.2 on bookworm; the name comes from the metapackage.
  php=$(aptcache depends php-cli | awk '$1=="Depends:" && $2 ~ /^php[0-9.]+-cli$/ {sub(/-cli$/,"",$2); print $2; exit}')
  [ -n "$php" ] || die "cannot tell the PHP version of this release"

  rm -rf "$HOME_DIR/debs" "$ROOT"; mkdir -p "$HOME_DIR/debs" "$ROOT"
  download "$php"
  say "unpacking $(find "$HOME_DIR/debs" -name '*.deb' | wc -l) packages"
  for deb in "$HOME_DIR"/debs/*.deb; do dpkg -x "$deb" "$ROOT"; done
  relocate
  php_ini "$php" >"$HOME_DIR/php.ini"
  {
    echo "PHP_VERSION_NAME=$php"
    echo "KANBOARD_VERSION=$(dpkg-deb -f "$HOME_DIR"/debs/kanboard_*.deb Version)"
  } >"$HOME_DIR/env"
  check_unpacked

  (cd "$HOME_DIR/debs" && ls ./*.deb) | sed 's#^\./##' >"$STAMP"
  rm -rf "$HOME_DIR/debs" "$APT"        # 180 MB of lists; made anew by install --force
  say "installed kanboard $(sed -n 's/^KANBOARD_VERSION=//p' "$HOME_DIR/env") with $php in $((SECONDS - t0)) s"
}

# ------------------------------------------------------------------ runtime --

load_env() {
  [ -e "$STAMP" ] || die "not installed; run: $0 install"
  # shellcheck disable=SC1091
  . "$HOME_DIR/env"
}

# Before an unpacked program: only our php.ini, and our libraries.
UNPACKED=(env PHP_INI_SCAN_DIR= "LD_LIBRARY_PATH=$ROOT/usr/lib/$(uname -m)-linux-gnu:$ROOT/usr/lib")
php_cli() {
  # shellcheck disable=SC1091
  . "$HOME_DIR/env"
  "${UNPACKED[@]}" "$ROOT/usr/bin/$PHP_VERSION_NAME" -c "$HOME_DIR/php.ini" "$@"
}

# The data folder, for us alone, and what Kanboard reads from its environment. Locked until we end.
open_data() {
  load_env
  umask 077
  mkdir -p "$DATA"/{files,cache,plugins}
  alone "$DATA/lock"
  export DATA_DIR=$DATA FILES_DIR=$DATA/files CACHE_DIR=$DATA/cache PLUGINS_DIR=$DATA/plugins
  export LOG_DRIVER=file LOG_FILE=$DATA/kanboard.log DEBUG=${KANBOARD_DEBUG:-false}
  export APP_VERSION=${KANBOARD_VERSION%%+*}
  export ENABLE_HSTS=false MAIL_CONFIGURATION=false PLUGIN_INSTALLER=false
  export WEBHOOK_ALLOW_PRIVATE_NETWORKS=true   # otherwise a webhook to 127.0.0.1 is refused
  export SESSION_HANDLER=db
  unset DATABASE_URL
  export DB_DRIVER=sqlite
  [ -z "$DB_URL" ] || postgres_env
}

# Kanboard takes the parts of a DATABASE_URL as they are; these are decoded, so that a password may
# hold any character.
postgres_env() {
  local parts
  mapfile -t parts < <(DB_URL=$DB_URL php_cli -r '
    $u = parse_url(getenv("DB_URL"));
    foreach (["host" => "localhost", "port" => "5432", "user" => "", "pass" => "", "path" => "/kanboard"] as $k => $d)
      echo rawurldecode(ltrim($u[$k] ?? $d, $k === "path" ? "/" : "")), "\n";')
  [ "${#parts[@]}" = 5 ] || die "KANBOARD_DATABASE_URL is not like postgres://user:password@host:port/name"
  export DB_DRIVER=postgres DB_HOSTNAME=${parts[0]} DB_PORT=${parts[1]} DB_USERNAME=${parts[2]} DB_PASSWORD=${parts[3]} DB_NAME=${parts[4]}
}

# Creates the schema and puts the settings in; prints the API token. One process does this before any
# server worker exists: Kanboard migrates on the first request, and two workers doing so would collide.
seed() {
  ADMIN_PASSWORD_FILE=$DATA/admin.password php_cli -r '
    chdir($argv[1]); require "app/common.php";
    $db = $container["db"];
    $set = function ($k, $v) use ($db) {
      $row = $db->table("settings")->eq("option", $k);
      if ($row->exists()) $db->table("settings")->eq("option", $k)->update(["value" => $v]);
      else $db->table("settings")->insert(["option" => $k, "value" => $v]);
    };
    $given = ["api_token" => "KANBOARD_TOKEN", "webhook_url" => "KANBOARD_WEBHOOK_URL", "webhook_token" => "KANBOARD_WEBHOOK_TOKEN"];
    foreach ($given as $option => $name) {
      $value = getenv($name);
      if ($value !== false && !($value === "" && $option === "api_token")) $set($option, $value);
    }
    $set("application_timezone", "UTC");
    $admin = $db->table("users")->eq("username", "admin")->findOne();
    $is = fn($password) => $admin && password_verify($password, $admin["password"]);
    $become = fn($password) => $db->table("users")->eq("username", "admin")->update(["password" => password_hash($password, PASSWORD_BCRYPT)]);
    $wanted = getenv("KANBOARD_ADMIN_PASSWORD");
    if ($wanted) {
      if (!$is($wanted)) $become($wanted);
    } elseif (!is_file(getenv("ADMIN_PASSWORD_FILE")) && $is("admin")) {
      // A new Kanboard lets admin in with "admin". Set before it is written: cut short here, nobody
      // knows it, and `user admin` sets another.
      $made = bin2hex(random_bytes(12));
      $become($made);
      file_put_contents(getenv("ADMIN_PASSWORD_FILE"), "$made\n");
    }
    echo $db->table("settings")->eq("option", "api_token")->findOneColumn("value"), "\n";
  ' "$APP"
}

# A pid file holds "pid start-time", so a recycled pid is never mistaken for ours. What is dead and
# not yet reaped has no start time here.
start_time() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" {print $20}'; }
remember()   { echo "$1 $(start_time "$1")" >"$2"; }
pid_in()     { # FILE: prints the pid if that very process still lives
  local pid t
  [ -e "$1" ] && read -r pid t <"$1" && [ -n "$t" ] && [ "$(start_time "$pid")" = "$t" ] && echo "$pid"
}

# launch NAME COMMAND...: a server in a session and process group of its own, remembered in NAME.pid.
launch() {
  local name=$1; shift
  echo "$name" >>"$DATA/launched"
  # `exec` makes $! the server itself.
  ( exec "${UNPACKED[@]}" setsid "$@" >/dev/null 2>>"$DATA/$name.log" </dev/null 9>&- ) &
  remember $! "$DATA/$name.pid"
}

# Whether all that was started still lives.
is_whole() {
  local name
  [ -e "$DATA/launched" ] || return 1
  while read -r name; do
    pid_in "$DATA/$name.pid" >/dev/null || return 1
  done <"$DATA/launched"
}

# The pids of the process group that FILE names. A leader that died leaves its workers, with the port;
# its number is not given away while they live.
group_in() {
  local pid t
  [ -e "$1" ] && read -r pid t <"$1" || return 0
  case $(start_time "$pid") in ''|"$t") ;; *) return 0;; esac
  # Processes that end meanwhile make `cat` fail.
  { cat /proc/[0-9]*/stat 2>/dev/null || true; } | sed -E 's/^([0-9]+) .*\) /\1 /' |
    awk -v g="$pid" '$4 == g && $5 == g && $2 != "Z" {print $1}'
}

# stop_group FILE SIGNAL: politely, so that a request that runs is answered, then all of it at once.
stop_group() {
  local pids i
  pids=$(group_in "$1")
  # CONT: somebody may have stopped it.
  # shellcheck disable=SC2086
  [ -z "$pids" ] || { kill "-$2" $pids; kill -CONT $pids; } 2>/dev/null || true
  for ((i = 0; i < 100; i++)); do
    pids=$(group_in "$1")
    [ -n "$pids" ] || break
    # shellcheck disable=SC2086
    [ "$i" -lt 50 ] || kill -KILL $pids 2>/dev/null || true
    sleep 0.1
  done
  rm -f "$1"
}

stop_all() {
  stop_group "$DATA/nginx.pid" QUIT
  stop_group "$DATA/fpm.pid" QUIT
  stop_group "$DATA/php.pid" INT
  stop_group "$DATA/pgbouncer.pid" TERM
  [ ! -L "$DATA/run" ] || rm -rf "$(readlink "$DATA/run")" "$DATA/run"
  rm -f "$DATA/launched"
}

# Sockets have a folder of their own: their paths may be 107 characters long, and pgbouncer, which
# refuses to run as root, must get at its own where the data folder is closed to it.
sockets() {
  local run
  run=$(mktemp -d "${TMPDIR:-/tmp}/kanboard.XXXXXX")
  mkdir "$run/pgbouncer"
  [ "$(id -u)" != 0 ] || { chmod 711 "$run"; chown nobody "$run/pgbouncer"; }
  ln -sfn "$run" "$DATA/run"
}

# Kanboard connects anew for each request; a pooler makes that cheap. Session mode: Kanboard asks for
# LASTVAL() in a statement of its own.
start_pgbouncer() {
  [ -n "$DB_URL" ] || die "--pgbouncer needs KANBOARD_DATABASE_URL"
  [ -x "$ROOT/usr/sbin/pgbouncer" ] || die "pgbouncer could not be had at install; start without --pgbouncer"
  local sockets
  sockets=$(readlink "$DATA/run")/pgbouncer
  php_cli -r '
    $word = fn($k) => "\x27".str_replace("\x27", "\x27\x27", getenv($k))."\x27";
    echo "[databases]\nkanboard = host=", $word("DB_HOSTNAME"), " port=", $word("DB_PORT"), " dbname=", $word("DB_NAME"),
      " user=", $word("DB_USERNAME"), getenv("DB_PASSWORD") === "" ? "" : " password=".$word("DB_PASSWORD"), "\n";' >"$DATA/pgbouncer.ini"
  cat >>"$DATA/pgbouncer.ini" <<CONF
[pgbouncer]
pool_mode = session
listen_addr =
listen_port = 6432
unix_socket_dir = $sockets
auth_type = any
default_pool_size = $((WORKERS + 4))
max_client_conn = 500
server_login_retry = 1
log_connections = 0
log_disconnections = 0
$([ "$(id -u)" != 0 ] || echo 'user = nobody')
CONF
  launch pgbouncer "$ROOT/usr/sbin/pgbouncer" "$DATA/pgbouncer.ini"
  export DB_HOSTNAME=$sockets DB_PORT=6432 DB_NAME=kanboard
}

write_fpm_conf() {
  local run
  run=$(readlink "$DATA/run")
  cat >"$DATA/fpm.conf" <<CONF
[global]
error_log = $DATA/fpm.log
daemonize = no
[kanboard]
listen = $run/fpm.sock
listen.backlog = 511
pm = static
pm.max_children = $WORKERS
clear_env = no
catch_workers_output = yes
CONF
  [ "$(id -u)" != 0 ] || printf 'user = root\ngroup = root\n' >>"$DATA/fpm.conf"
  mkdir -p "$DATA/tmp"
  cat >"$DATA/nginx.conf" <<CONF
daemon off; worker_processes 1; pid $DATA/nginx-self.pid;
$([ "$(id -u)" != 0 ] || echo 'user root;')
events { worker_connections 1024; }
http {
  access_log off; client_max_body_size 64m; keepalive_requests 100000;
  client_body_temp_path $DATA/tmp/b; fastcgi_temp_path $DATA/tmp/f; proxy_temp_path $DATA/tmp/p; uwsgi_temp_path $DATA/tmp/u; scgi_temp_path $DATA/tmp/s;
  include $ROOT/etc/nginx/mime.types;
  server {
    listen 127.0.0.1:$PORT; root $APP; index index.php;
    location ~ ^/(app|libs|vendor|cli) { return 404; }
    location / { try_files \$uri /index.php\$is_args\$args; }
    location ~ \.php\$ { include $ROOT/etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name; fastcgi_pass unix:$run/fpm.sock; fastcgi_read_timeout 120; }
  }
}
CONF
}

start_php() {
  case $SERVER in
    php)
      # With several workers PHP's own server forks that many processes on one listening socket.
      # -q: no log line a request.
      local w=$WORKERS; [ "$w" -gt 1 ] || w=
      PHP_CLI_SERVER_WORKERS=$w launch php "$ROOT/usr/bin/$PHP_VERSION_NAME" -q -c "$HOME_DIR/php.ini" -S "127.0.0.1:$PORT" -t "$APP" ;;
    fpm)
      write_fpm_conf
      launch fpm "$ROOT/usr/sbin/php-fpm${PHP_VERSION_NAME#php}" -F -R -c "$HOME_DIR/php.ini" -y "$DATA/fpm.conf"
      launch nginx "$ROOT/usr/sbin/nginx" -e "$DATA/nginx.log" -p "$DATA" -c "$DATA/nginx.conf" ;;
  esac
}

port_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; }

api_answers() { # API_TOKEN: one JSON-RPC call, without needing curl; prints the version
  URL=http://127.0.0.1:$PORT/jsonrpc.php TOKEN=$1 php_cli -r '
    $c = stream_context_create(["http" => ["method" => "POST", "timeout" => 5, "ignore_errors" => true,
      "header" => "Content-Type: application/json\r\nAuthorization: Basic ".base64_encode("jsonrpc:".getenv("TOKEN")),
      "content" => json_encode(["jsonrpc" => "2.0", "id" => 1, "method" => "getVersion"])]]);
    $r = json_decode((string) @file_get_contents(getenv("URL"), false, $c), true);
    if (empty($r["result"])) exit(1);
    echo $r["result"];'
}

cmd_start() {
  # In a shell of its own: its lock must not be held on as long as ours.
  [ -e "$STAMP" ] || (cmd_install)
  open_data
  local t0 version token began
  t0=$(date +%s%N)
  if is_whole; then
    seed >/dev/null   # the settings may be other ones now
    PORT=$(cat "$DATA/port")
    say "already running"
    report
    return 0
  fi
  stop_all
  if port_answers; then say "error: something else is listening on port $PORT"; exit 4; fi
  token=$(seed) || die "could not create the database; see $DATA/kanboard.log"
  [ -n "$token" ] || die "the database holds no API token"
  export DB_RUN_MIGRATIONS=false   # just done; saves the schema check on each request
  # Servers have no use for these.
  unset KANBOARD_TOKEN KANBOARD_ADMIN_PASSWORD KANBOARD_DATABASE_URL KANBOARD_WEBHOOK_URL KANBOARD_WEBHOOK_TOKEN
  echo "$PORT" >"$DATA/port"
  [ "$SERVER$PGBOUNCER" = php ] || sockets
  [ -z "$PGBOUNCER" ] || start_pgbouncer
  start_php

  began=$SECONDS
  while [ $((SECONDS - began)) -lt 60 ]; do
    if port_answers && version=$(api_answers "$token"); then
      is_whole || break
      say "kanboard $version answers after $((($(date +%s%N) - t0) / 1000000)) ms ($SERVER, $WORKERS workers, $DB_DRIVER${PGBOUNCER:+ by pgbouncer})"
      report
      return 0
    fi
    is_whole || break
    sleep 0.05
  done
  tail -n 5 "$DATA"/{php,fpm,nginx,pgbouncer,kanboard}.log >&2 2>/dev/null || true
  stop_all
  die "the API did not answer; the logs are in $DATA"
}

report() {
  cat <<OUT
KANBOARD_URL=http://127.0.0.1:$PORT/
KANBOARD_API_URL=http://127.0.0.1:$PORT/jsonrpc.php
KANBOARD_DATA=$DATA
OUT
}

cmd_stop() { open_data; if [ -e "$DATA/launched" ]; then stop_all; say "stopped"; else say "not running"; fi; }

cmd_status() {
  load_env
  if ! is_whole; then say "not running"; return 3; fi
  PORT=$(cat "$DATA/port"); say "running"; report
}

cmd_token() { open_data; seed; }

cmd_user() {
  [ -n "$1" ] || die "user needs a name"
  [ -n "${KANBOARD_USER_PASSWORD:-}${KANBOARD_USER_TOKEN:-}" ] || die "set KANBOARD_USER_PASSWORD, KANBOARD_USER_TOKEN or both"
  open_data
  php_cli -r '
    chdir($argv[1]); require "app/common.php";
    $users = fn() => $container["db"]->table("users")->eq("username", $argv[2]);
    if (!$users()->exists()) exit(1);
    $values = [];
    if (getenv("KANBOARD_USER_PASSWORD")) $values["password"] = password_hash(getenv("KANBOARD_USER_PASSWORD"), PASSWORD_BCRYPT);
    if (getenv("KANBOARD_USER_TOKEN")) $values["api_access_token"] = getenv("KANBOARD_USER_TOKEN");
    $users()->update($values);
  ' -- "$APP" "$1" || die "there is no user $1"
}

cmd_reset() { # a running server is stopped first
  open_data; stop_all
  if [ "$DB_DRIVER" = postgres ]; then
    php_cli -r '
      $q = sprintf("pgsql:host=%s;port=%d;dbname=%s", getenv("DB_HOSTNAME"), getenv("DB_PORT"), getenv("DB_NAME"));
      $p = new PDO($q, getenv("DB_USERNAME"), getenv("DB_PASSWORD"), [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
      $p->exec("DROP SCHEMA public CASCADE"); $p->exec("CREATE SCHEMA public");'
  fi
  case $DATA in /|"${HOME:-}") die "refusing to empty '$DATA'";; esac
  rm -rf "$DATA"/db.sqlite* "$DATA"/{files,cache,tmp} "$DATA"/{kanboard,php,fpm,nginx,pgbouncer}.log "$DATA/admin.password"
  mkdir -p "$DATA"/{files,cache}
  say "reset done"
}

# --------------------------------------------------------------------- main --

usage() { sed -n '3,13p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2; }

[ $# -gt 0 ] || usage
cmd=$1 name=
shift
if [ "$cmd" = user ] && [ $# -gt 0 ]; then name=$1; shift; fi
while [ $# -gt 0 ]; do
  case $1 in
    --pgbouncer) PGBOUNCER=yes; shift; continue;;
    --postgres) POSTGRES=yes; shift; continue;;
    --force) FORCE=yes; shift; continue;;
    --data|--port|--workers|--server) [ $# -gt 1 ] || usage;;
    *) usage;;
  esac
  case $1 in
    --data) DATA=$2;; --port) PORT=$2;; --workers) WORKERS=$2;; --server) SERVER=$2;;
  esac
  shift 2
done
case $SERVER in php|fpm) ;; *) usage;; esac
case $PORT$WORKERS in *[!0-9]*) usage;; esac
case $DATA in /*) ;; *) DATA=$PWD/$DATA;; esac
# SQLite: one worker. With more, Kanboard's read-then-write transactions answer "database is locked"
# (after the main change is already stored); one is also faster for writes. PostgreSQL wants several.
[ -n "$WORKERS" ] || { if [ -n "$DB_URL" ]; then WORKERS=4; else WORKERS=1; fi; }
case $cmd in
  install) cmd_install;; start) cmd_start;; stop) cmd_stop;; status) cmd_status;;
  token) cmd_token;; user) cmd_user "$name";; reset) cmd_reset;;
  *) usage;;
esac
