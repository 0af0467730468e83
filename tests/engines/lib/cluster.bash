#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Machines, as namespaces of network and host name on one switch, and a real Slurm on them: `load lib/cluster`.
#
#	cluster_up N        a head and the nodes n1 to nN; $cluster is their folder
#	on NAME COMMAND...  runs there; all that it starts is in that machine's namespace
#	slurm_up            slurmctld on the head, slurmd on the nodes
#	cluster_down        ends every process of the machines, and takes them away
#
# A watcher takes them away, too, when the test is killed.

# shellcheck source=/dev/null
load ../bats/lib/dsvc

slurm_parts=(slurmctld slurmd sbatch squeue scontrol scancel srun munged)

cluster_needs() { # WORD PROGRAM...
	local program word=$1
	shift
	((EUID == 0)) || skip 'needs root'
	for program in ip nsenter unshare "$@"; do
		type -P "$program" >/dev/null || skip "needs $program (make check-engines installs it)"
	done
	ip netns add "$word-$$" 2>/dev/null || skip 'network namespaces cannot be made here'
	ip netns del "$word-$$"
}

in_net() { nsenter --net="/run/netns/$prefix-$1" "${@:2}"; }

on() { # NAME COMMAND...
	local name=$1
	shift
	# Not ip netns exec, which hides /sys/fs/cgroup.
	in_net "$name" unshare -u -m bash -c \
		'mount --bind "$0/hosts" /etc/hosts; hostname "$1"; shift; exec "$@"' "$cluster" "$name" "$@"
}

machine() { # NAME ADDRESS
	ip netns add "$prefix-$1"
	ip link add "v-$1" netns "$prefix-sw" type veth peer name eth0 netns "$prefix-$1"
	in_net sw ip link set "v-$1" master br0 up
	in_net "$1" ip link set lo up
	in_net "$1" ip addr add "$2/24" dev eth0
	in_net "$1" ip link set eth0 up
	echo "$2 $1" >>"$cluster/hosts"
}

# The same without this file's variables, for the watcher.
cluster_remove() { # PREFIX FOLDER
	local name pids round
	for round in 1 2 3; do
		for name in $(ip netns list | awk -v p="$1-" 'index($1, p) == 1 {print $1}'); do
			mapfile -t pids < <(ip netns pids "$name")
			((${#pids[@]})) && kill -KILL "${pids[@]}" 2>/dev/null
			((round == 3)) && ip netns del "$name"
		done
	done
	rm -rf "$2"
}

cluster_up() { # N
	local i
	prefix=dsvc-e$$
	cluster=$(mktemp -d "${TMPDIR:-/tmp}/dsvc-eXXXXXX")
	export prefix cluster
	export -f cluster_remove
	# shellcheck disable=SC2016
	setsid bash -c 'tail --pid="$1" -f /dev/null; cluster_remove "$2" "$3"' - "$$" "$prefix" "$cluster" \
		</dev/null >/dev/null 2>&1 3>&- &
	echo "$!" >"$cluster/watcher"
	echo '127.0.0.1 localhost' >"$cluster/hosts"
	# The switch has a namespace of its own: the machine's own network is not touched.
	ip netns add "$prefix-sw"
	in_net sw ip link add br0 type bridge
	in_net sw ip link set br0 up
	machine head 10.77.0.1
	for ((i = 1; i <= $1; i++)); do machine "n$i" "10.77.0.$((10 + i))"; done
	nodes=$1
}

cluster_down() {
	[[ ${cluster-} && -e $cluster/watcher ]] || return 0
	kill -KILL "-$(<"$cluster/watcher")" 2>/dev/null || kill -KILL "$(<"$cluster/watcher")" 2>/dev/null || :
	cluster_remove "$prefix" "$cluster" || :
}

slurm_conf() {
	cat <<-END
		ClusterName=dsvctest
		SlurmctldHost=head(10.77.0.1)
		SlurmUser=root
		SlurmdUser=root
		SlurmctldPidFile=$cluster/run/slurmctld.pid
		SlurmdPidFile=$cluster/run/slurmd.%n.pid
		SlurmdSpoolDir=$cluster/spool/%n
		StateSaveLocation=$cluster/ctld
		SlurmctldLogFile=$cluster/log/slurmctld
		SlurmdLogFile=$cluster/log/slurmd.%n
		AuthType=auth/munge
		AuthInfo=socket=$cluster/munge/socket
		CredType=cred/munge
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		MpiDefault=none
		SwitchType=switch/none
		SchedulerType=sched/backfill
		SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,requeue_delay=1
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		PreemptType=preempt/partition_prio
		PreemptMode=REQUEUE
		KillWait=10
		ReturnToService=2
		SlurmdTimeout=300
		SlurmctldTimeout=300
		MessageTimeout=60
		MinJobAge=300
		MailProg=/bin/true
		SlurmdParameters=config_overrides
		NodeName=n[1-$nodes] NodeAddr=10.77.0.[11-$((10 + nodes))] CPUs=4 RealMemory=4000 State=UNKNOWN
		PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
		PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
	END
}

slurm_up() {
	local i
	mkdir -p "$cluster"/{ctld,log,spool,run,job}
	mkdir -m 700 "$cluster/munge"
	(umask 077; head -c 1024 /dev/urandom >"$cluster/munge/key")
	slurm_conf >"$cluster/slurm.conf"
	export SLURM_CONF=$cluster/slurm.conf
	# Each closes what bats waits for.
	on head munged --force --socket="$cluster/munge/socket" --key-file="$cluster/munge/key" \
		--pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" 3>&-
	chmod 755 "$cluster" "$cluster/munge"
	on head slurmctld 3>&- >/dev/null 2>&1
	for ((i = 1; i <= nodes; i++)); do
		mkdir -p "$cluster/spool/n$i"
		on "n$i" slurmd 3>&- >/dev/null 2>&1
	done
	until_true 20s nodes_are "$nodes" idle
}

nodes_are() { # N STATE
	[[ $(on head sinfo -h -N -p low -t "$2" -o %n 2>/dev/null | wc -l) == "$1" ]]
}

# Jobs that are queued again are held back for two minutes, unless one says otherwise. A node refuses a job that
# begins in the second in which it ended there, so each is left in the queue for longer than that.
declare -gA queued_at
hasten() {
	local job now
	local -A pending
	printf -v now '%(%s)T' -1
	for job in $(on head squeue -h -r -t PD -o %i); do
		pending[$job]=${queued_at[$job]:-$now}
		((now < ${pending[$job]} + 2)) || on head scontrol update jobid="$job" starttime=now 2>/dev/null || :
	done
	queued_at=()
	for job in "${!pending[@]}"; do queued_at[$job]=${pending[$job]}; done
}

task_is() { # JOB STATE
	hasten
	[[ $(on head squeue -h -r -j "$1" -o %t 2>/dev/null) == "$2" ]]
}

restarted() { # JOB N: it runs, for the N-th time again
	task_is "$1" R && [[ $(on head scontrol show job "$1") == *"Restarts=$2 "* ]]
}

gone() { # JOB
	[[ ! $(on head squeue -h -r -j "$1" -t PD,R,CG,CF -o %t 2>/dev/null) ]]
}
