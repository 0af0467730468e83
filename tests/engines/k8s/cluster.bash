#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A real Kubernetes in namespaces of its own (processes, mounts, network), each node with a network of its own on one
# switch: `load cluster`.
#
#	k8s_needs PROGRAM...   what is missing here, if anything
#	k8s_up FOLDER N        starts it with N nodes from the programs in $K8S_BIN; all that it keeps is in FOLDER
#	k8s_image TAR NAME     takes an image in, by a name, on each node
#	kube WORD...           kubectl of build.sh, there
#	inside COMMAND...      runs where etcd and the apiserver are, which have the address 10.88.0.1
#	on NODE COMMAND...     runs on a node, node1 to nodeN
#	launch NAME COMMAND... the same as `inside`, in the background; what it says is in FOLDER/log/NAME
#	soon SECONDS COMMAND...  repeats a command until it succeeds
#	k8s_down               ends the first process there, with which all others, the mounts and networks go; then groups
#
# k8s_down happens, too, when the shell that called k8s_up is killed: a watcher sees to it.
# FOLDER must not be below /var or /run, which are others there.

address=10.88.0.1
inside() { nsenter -t "$(<"$home/first")" -m -n -p -- "$@"; }
# The name of a network is known there only.
on() { inside nsenter --net="/run/netns/$1" -- "${@:2}"; }
kube() { inside env KUBECONFIG="$home/kubeconfig" timeout "${KUBE_TIME:-60}" "$K8S_BIN/kubectl" "$@"; }

# Nothing that stays keeps a descriptor of bats, which would wait for it, nor is it a child of the shell.
apart() { # LOG COMMAND...
	local fd log=$1
	shift
	(
		for fd in /proc/"$BASHPID"/fd/*; do
			fd=${fd##*/}
			((fd <= 2)) || eval "exec $fd>&-"
		done
		exec setsid -f "$@" >"$log" 2>&1 </dev/null
	)
}
launch() { apart "$home/log/$1" nsenter -t "$(<"$home/first")" -m -n -p -- "${@:2}"; }
launch_on() { # NODE NAME COMMAND...
	launch "$2-$1" nsenter --net="/run/netns/$1" -- "${@:3}"
}
soon() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || { echo "not in time: $*" >&2; return 1; }
		read -r -t 0.3 _ <> <(:) || :
	done
}

k8s_needs() {
	local program
	((EUID == 0)) || { echo 'root'; return 1; }
	for program in ip iptables nsenter unshare etcd containerd ctr runc jq openssl curl python3 "$@"; do
		type -P "$program" >/dev/null || { echo "$program"; return 1; }
	done
	[[ -x /usr/lib/cni/bridge && -x /usr/lib/cni/host-local ]] || { echo 'the plugins of CNI in /usr/lib/cni'; return 1; }
}

k8s_keys() {
	openssl genrsa -out "$home/pki/accounts.key" 2048 2>/dev/null
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$home/pki/front.key" -out "$home/pki/front.crt" -subj /CN=front -days 2 2>/dev/null
	(umask 077; echo "$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'),admin,1,system:masters" >"$home/pki/tokens")
	cat >"$home/kubeconfig" <<-END
		apiVersion: v1
		kind: Config
		clusters: [{name: c, cluster: {server: "https://$address:6443", insecure-skip-tls-verify: true}}]
		users: [{name: a, user: {token: $(cut -d, -f1 "$home/pki/tokens")}}]
		contexts: [{name: c, context: {cluster: c, user: a}}]
		current-context: c
	END
	chmod 600 "$home/kubeconfig"
	cat >"$home/Corefile" <<-END
		.:53 {
		    bind $address
		    errors
		    kubernetes cluster.local in-addr.arpa {
		        kubeconfig $home/kubeconfig c
		        ttl 2
		    }
		}
	END
}

# The files of node I: of containerd, of the network of its pods, and of the kubelet.
k8s_files() { # I
	local at=$home/node$1
	mkdir -p "$at"/{kubelet,containerd/{root,state},cni,pods,plugins}
	cat >"$at/containerd.toml" <<-END
		version = 2
		root = "$at/containerd/root"
		state = "$at/containerd/state"
		disabled_plugins = ["io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.btrfs"]
		[grpc]
		  address = "$at/containerd.sock"
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "localhost/pause:1"
		  restrict_oom_score_adj = true
		  [plugins."io.containerd.grpc.v1.cri".cni]
		    bin_dir = "/usr/lib/cni"
		    conf_dir = "$at/cni"
		  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
		    runtime_type = "io.containerd.runc.v2"
	END
	cat >"$at/cni/10-bridge.conflist" <<-END
		{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": true,
		 "ipMasq": false, "hairpinMode": true, "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.$1.0/24"}]],
		 "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "$at/cni-data"}}]}
	END
	cat >"$at/kubelet.yaml" <<-END
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
		authorization: {mode: AlwaysAllow}
		address: 10.88.0.1$1
		healthzPort: 0
		cgroupDriver: cgroupfs
		cgroupRoot: /$group/node$1
		failSwapOn: false
		failCgroupV1: false
		oomScoreAdj: 0
		containerRuntimeEndpoint: unix://$at/containerd.sock
		featureGates: {KubeletInUserNamespace: true}
		evictionHard: {memory.available: "100Mi", nodefs.available: "1%", imagefs.available: "1%"}
		localStorageCapacityIsolation: false
		makeIPTablesUtilChains: false
		imageGCHighThresholdPercent: 100
		volumePluginDir: $at/plugins
		podLogsDir: $at/pods
		resolvConf: ""
		maxPods: 60
		clusterDNS: ["$address"]
		clusterDomain: cluster.local
	END
}

# The first process of the namespaces. The kubelet wants settings of the kernel that are the whole machine's: it finds
# them in files instead.
k8s_first() {
	local name
	mount -t proc proc /proc
	for name in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
		kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
		mkdir -p "$home/sys/$(dirname "${name%=*}")"
		echo "${name#*=}" >"$home/sys/${name%=*}"
		mount --bind "$home/sys/${name%=*}" "/proc/sys/${name%=*}"
	done
	mount -t overlay -o "lowerdir=/var,upperdir=$home/var/up,workdir=$home/var/work" overlay /var
	mount -t tmpfs none /run
	mkdir /run/netns
	ip link set lo up
	ip link add switch type bridge
	ip addr add "$address/24" dev switch
	ip link set switch up
	ip route add default dev switch
	sysctl -qw net.ipv4.ip_forward=1
	echo up >"$home/begun"
	# A shell takes in the children of those that have ended.
	while :; do read -r -t 3600 _ <> <(:) || :; done
}
k8s_network() { # I
	inside ip netns add "node$1"
	inside ip link add "v-node$1" type veth peer name eth0 netns "node$1"
	inside ip link set "v-node$1" master switch up
	on "node$1" ip link set lo up
	on "node$1" ip addr add "10.88.0.1$1/24" dev eth0
	on "node$1" ip link set eth0 up
	# Between pods of two nodes by the switch, which forwards.
	on "node$1" ip route add default via "$address"
	on "node$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1
	inside ip route add "10.244.$1.0/24" via "10.88.0.1$1"
}

api_ready() { [[ $(inside curl -sk "https://$address:6443/readyz") == ok ]]; }
nodes_ready() { [[ $(kube get nodes 2>/dev/null | grep -c ' Ready ') == "$1" ]]; }
first_begun() { [[ -s $home/begun ]] && pgrep -P "$(<"$home/outer")" >"$home/first"; }
groups_of() { find /sys/fs/cgroup -depth -type d -path "/sys/fs/cgroup/*$group*" 2>/dev/null; }

# Groups of processes, one for each node, in each tree that there is.
k8s_groups() { # N
	local at i part
	for at in /sys/fs/cgroup{,/*}/cgroup.procs; do
		[[ -e $at ]] || continue
		at=${at%/*}
		[[ $at != /sys/fs/cgroup || -e $at/cgroup.controllers ]] || continue
		for part in "$group" $(seq -f "$group/node%g" "$1"); do
			mkdir -p "$at/$part"
			[[ -e $at/$part/cpuset.cpus && ! -e $at/cgroup.controllers ]] || continue
			for i in cpus mems; do cat "$at/cpuset.$i" >"$at/$part/cpuset.$i"; done
		done
		[[ $at != /sys/fs/cgroup ]] || break
	done
}

# With the watcher, which waits for the end of this shell.
k8s_begin() { # N
	export home address group
	export -f k8s_first k8s_remove groups_of
	# shellcheck disable=SC2016
	apart "$home.watch" bash -c 'echo $$ >"$home/watcher"; tail --pid="$1" -f /dev/null; k8s_remove' - "$$"
	k8s_groups "$1"
	# shellcheck disable=SC2016
	apart "$home/log/first" bash -c 'echo $$ >"$home/outer" &&
		exec unshare -m -n -p -f --kill-child --propagation private bash -ec k8s_first'
	soon 20 first_begun
}

k8s_up() { # FOLDER N
	local bin=$K8S_BIN i
	home=$1
	group=dsvc-k8s-$$
	mkdir -p "$home"/{log,pki,etcd,var/{up,work}}
	echo "$group" >"$home/group"
	k8s_begin "$2"
	k8s_keys
	launch etcd etcd --data-dir "$home/etcd" --listen-client-urls http://127.0.0.1:2379 \
		--advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync
	launch apiserver "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --bind-address=$address \
		--advertise-address=$address --cert-dir="$home/pki/api" --service-account-issuer=https://kubernetes.default.svc \
		--service-account-key-file="$home/pki/accounts.key" --service-account-signing-key-file="$home/pki/accounts.key" \
		--token-auth-file="$home/pki/tokens" --authorization-mode=RBAC --service-cluster-ip-range=10.96.0.0/16 \
		--disable-admission-plugins=ServiceAccount --requestheader-client-ca-file="$home/pki/front.crt" \
		--proxy-client-cert-file="$home/pki/front.crt" --proxy-client-key-file="$home/pki/front.key" \
		--requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group \
		--requestheader-username-headers=X-Remote-User --enable-aggregator-routing=true \
		--kubelet-preferred-address-types=InternalIP
	k8s_pause "$bin/pause"
	for ((i = 1; i <= $2; i++)); do
		k8s_network "$i"
		k8s_files "$i"
		launch_on "node$i" containerd containerd -c "$home/node$i/containerd.toml"
	done
	soon 120 api_ready
	launch controllers "$bin/kube-controller-manager" --kubeconfig="$home/kubeconfig" --leader-elect=false \
		--service-account-private-key-file="$home/pki/accounts.key" \
		--horizontal-pod-autoscaler-sync-period=2s --horizontal-pod-autoscaler-initial-readiness-delay=1s
	launch scheduler "$bin/kube-scheduler" --kubeconfig="$home/kubeconfig" --leader-elect=false
	launch names "$bin/names" -conf "$home/Corefile"
	for ((i = 1; i <= $2; i++)); do
		soon 60 containerd_takes "node$i" "$home/pause.tar"
		launch_on "node$i" kubelet "$bin/kubelet" --config="$home/node$i/kubelet.yaml" --kubeconfig="$home/kubeconfig" \
			--root-dir="$home/node$i/kubelet" --hostname-override="node$i" --node-ip="10.88.0.1$i"
		launch_on "node$i" proxy "$bin/kube-proxy" --kubeconfig="$home/kubeconfig" --hostname-override="node$i" \
			--proxy-mode=iptables --cluster-cidr=10.244.0.0/16 --conntrack-max-per-core=0 \
			--conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0 --metrics-bind-address=127.0.0.1:10249
	done
	soon 120 nodes_ready "$2"
}

ctr_on() { inside ctr -a "$home/$1/containerd.sock" -n k8s.io "${@:2}"; }
containerd_takes() { # NODE TAR
	[[ -S $home/$1/containerd.sock ]] && ctr_on "$1" image import "$2" >/dev/null
}
k8s_image() { # TAR NAME
	local at
	for at in "$home"/node*/; do
		at=$(basename "$at")
		ctr_on "$at" image import "$1" >/dev/null
		[[ $(ctr_on "$at" image ls -q) == *"$2"* ]] || { echo "$1 has no $2" >&2; return 1; }
	done
}

# An image of one program, as docker packs them.
k8s_pause() { # PROGRAM
	local at=$home/pause arch
	case $(uname -m) in
	x86_64) arch=amd64 ;;
	aarch64) arch=arm64 ;;
	*) arch=$(uname -m) ;;
	esac
	mkdir -p "$at"
	tar -C "${1%/*}" -cf "$at/layer.tar" "${1##*/}"
	cat >"$at/config.json" <<-END
		{"architecture": "$arch", "os": "linux", "config": {"Entrypoint": ["/pause"]},
		 "rootfs": {"type": "layers", "diff_ids": ["sha256:$(sha256sum <"$at/layer.tar" | cut -d' ' -f1)"]}}
	END
	echo '[{"Config": "config.json", "RepoTags": ["localhost/pause:1"], "Layers": ["layer.tar"]}]' >"$at/manifest.json"
	tar -C "$at" -cf "$home/pause.tar" manifest.json config.json layer.tar
}

# With $home and $group alone, for the watcher. The end of the first process ends every other in its namespace.
k8s_remove() {
	local round
	[[ ! -s $home/outer ]] || kill -KILL "$(<"$home/outer")" 2>/dev/null
	for round in {1..100}; do
		groups_of | xargs -r rmdir 2>/dev/null
		[[ ! $(groups_of) ]] && break
		read -r -t 0.1 _ <> <(:)
	done
	rm -rf "${home:?}" "$home.watch"
	[[ ! $(groups_of) ]]
}
k8s_down() {
	[[ ${home-} && -s $home/watcher ]] || return 0
	kill -KILL "-$(<"$home/watcher")" 2>/dev/null || :
	k8s_remove
}
