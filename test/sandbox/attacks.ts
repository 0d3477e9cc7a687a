/**
 * What code in a sandbox may try. Each attack is a command line that prints GOT when it got somewhere, or leaves its
 * mark with the targets outside.
 */

export interface Targets {
  /** TCP on all addresses of this machine; counts who came. */
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Abstract name of a Unix socket. */
  readonly abstractName: string;
  /** A file outside with a secret, and the folder that it lies in. */
  readonly secretFile: string;
  readonly outside: string;
  readonly secret: string;
  /** The process that started the sandbox, and one that may be ended. */
  readonly workerPid: number;
  readonly victimPid: number;
}

export interface Attack {
  readonly name: string;
  readonly line: (targets: Targets) => string;
  /** It wears the sandbox out: a limit has to end it. */
  readonly endsBy?: RegExp;
  /** Its own sandbox may break by it, and then nothing of it is kept. */
  readonly breaks?: true;
}

const node = (code: string): string => `/node -e ${JSON.stringify(code).replaceAll('$', '\\$')}`;

function connects(to: string): string {
  return node(
    `const s=require('net').connect(${to},()=>{console.log('GOT');process.exit()});s.on('error',()=>process.exit());setTimeout(()=>process.exit(),1500)`,
  );
}

const reads = (path: string): string =>
  `test -s ${path} && cat ${path} >/dev/null 2>&1 && echo GOT`;
const writes = (path: string): string => `echo x > ${path} && echo GOT`;

export const ATTACKS: { readonly [about: string]: readonly Attack[] } = {
  network: [
    {
      name: 'the loopback of the machine',
      line: ({ tcpPort }) => connects(`${tcpPort},'127.0.0.1'`),
    },
    { name: 'the same by IPv6', line: ({ tcpPort }) => connects(`${tcpPort},'::1'`) },
    { name: 'an address outside', line: () => connects(`80,'192.0.2.1'`) },
    { name: 'the service of cloud metadata', line: () => connects(`80,'169.254.169.254'`) },
    {
      name: 'a datagram',
      line: ({ udpPort }) =>
        node(
          `const s=require('dgram').createSocket('udp4');s.send('x',${udpPort},'127.0.0.1',()=>process.exit());s.on('error',()=>process.exit())`,
        ),
    },
    {
      name: 'a name that is looked up',
      line: () => 'getent hosts localhost.localdomain example.org && echo GOT',
    },
    { name: 'an abstract socket', line: ({ abstractName }) => connects(`'\\0${abstractName}'`) },
    {
      name: 'an interface of its own',
      line: () => 'ip link add x type dummy 2>/dev/null && echo GOT',
    },
    { name: 'the network of process 1', line: () => 'nsenter -t 1 -n true && echo GOT' },
  ],
  files: [
    { name: 'a secret outside', line: ({ secretFile }) => reads(secretFile) },
    {
      name: 'the same by a link',
      line: ({ secretFile }) => `ln -s ${secretFile} l; ${reads('l')}`,
    },
    { name: 'the same by ..', line: ({ secretFile }) => reads(`/work/../../../..${secretFile}`) },
    {
      name: 'the same by /proc/1/root',
      line: ({ secretFile }) => reads(`/proc/1/root${secretFile}`),
    },
    {
      name: 'the same by a hard link',
      line: ({ secretFile }) => `ln ${secretFile} h && ${reads('h')}`,
    },
    { name: 'accounts', line: () => reads('/etc/shadow') },
    { name: 'homes', line: () => 'ls /root /home 2>/dev/null | grep -q . && echo GOT' },
    {
      name: 'keys of certificates',
      line: () => 'ls /etc/ssl/private 2>/dev/null | grep -q . && echo GOT',
    },
    { name: 'a folder outside', line: ({ outside }) => writes(`${outside}/escaped`) },
    ...[
      '/escaped',
      '/usr/bin/escaped',
      '/etc/escaped',
      '/node',
      '/holdfast/escaped',
      '/dev/escaped',
      '/dev/shm/escaped',
    ].map((path) => ({ name: path, line: () => writes(path) })),
    { name: 'a root that is writable again', line: () => 'mount -o remount,rw / && echo GOT' },
    {
      name: 'a device of its own',
      line: () => 'mknod d b 8 0 && echo GOT; mknod c c 1 1 && echo GOT',
    },
    {
      name: 'disks',
      line: () => 'ls /dev/sd* /dev/vd* /dev/nvme* /dev/mem 2>/dev/null | grep -q . && echo GOT',
    },
    { name: 'another root', line: () => 'mkdir r; chroot r true && echo GOT' },
    {
      name: 'mounts in a user namespace of its own',
      line: ({ secretFile }) =>
        `unshare -Urm sh -c 'mount -o remount,rw,bind /usr && touch /usr/escaped && echo GOT; mount -t tmpfs x /usr/share && test -s ${secretFile} && echo GOT'`,
    },
    {
      name: 'rights of root',
      line: () => 'test "$(id -u)" = 0 && test -w /usr && echo GOT; su -c true && echo GOT',
    },
  ],
  environment: [
    {
      name: 'variables of the worker',
      line: ({ secret }) => `env | grep -q ${secret} && echo GOT`,
    },
    {
      name: 'those of process 1',
      line: ({ secret }) => `tr '\\0' '\\n' < /proc/1/environ | grep -q ${secret} && echo GOT`,
    },
    {
      name: 'those of all processes',
      line: ({ secret }) => `cat /proc/[0-9]*/environ 2>/dev/null | grep -aq ${secret} && echo GOT`,
    },
    {
      name: 'what is open',
      breaks: true,
      line: ({ secret }) =>
        `cat /proc/[0-9]*/fd/[3-9]* 2>/dev/null </dev/null | head -c 100000 | grep -aq ${secret} && echo GOT`,
    },
    {
      name: 'command lines',
      // In two parts: its own command line has it otherwise.
      line: ({ secret }) =>
        `printf '%s%s' '${secret.slice(0, 4)}' '${secret.slice(4)}' > s; cat /proc/[0-9]*/cmdline | grep -aqf s && echo GOT`,
    },
  ],
  processes: [
    {
      name: 'the worker in /proc',
      line: ({ workerPid }) => `test -e /proc/${workerPid}/stat && echo GOT`,
    },
    {
      name: 'processes of the machine',
      line: () => 'test "$(ls -d /proc/[0-9]* | wc -l)" -gt 12 && echo GOT',
    },
    {
      name: 'memory of the kernel',
      line: () => 'head -c 1 /proc/kcore && echo GOT; head -c 1 /dev/kmsg && echo GOT',
    },
    {
      name: 'settings of the kernel',
      line: () =>
        'echo 1 > /proc/sys/kernel/sysrq && echo GOT; echo b > /proc/sysrq-trigger && echo GOT',
    },
    { name: 'a trace of process 1', line: () => 'head -c 1 /proc/1/mem && echo GOT' },
    { name: 'namespaces of process 1', line: () => 'nsenter -t 1 -m -p true && echo GOT' },
  ],
  signals: [
    { name: 'to the worker', line: ({ workerPid }) => `kill -9 ${workerPid} && echo GOT` },
    { name: 'to another process', line: ({ victimPid }) => `kill -9 ${victimPid} && echo GOT` },
    { name: 'to everybody', line: () => 'kill -9 -1' },
    { name: 'to process 1', line: () => 'kill -9 1; sleep 0.1; test -e /proc/1 || echo GOT' },
    { name: 'to the parent', line: () => 'kill -9 $PPID' },
    {
      name: 'to every number',
      line: () => 'for i in $(seq 3 3000); do [ $i = $$ ] || kill -9 $i 2>/dev/null; done',
    },
  ],
  exhaustion: [
    { name: 'a fork bomb', line: () => 'b() { b | b & }; b; sleep 30', endsBy: /exit|time/ },
    {
      name: 'many processes',
      line: () =>
        'n=0; while [ $n -lt 400 ]; do sleep 30 & n=$((n+1)); done 2>/dev/null; test "$(ls -d /proc/[0-9]* | wc -l)" -gt 80 && echo GOT',
      endsBy: /exit|time/,
    },
    {
      name: 'memory of one process',
      line: () => `${node('const a=[];for(;;)a.push(Buffer.alloc(1e7,1))')}; true`,
      endsBy: /exit|memory|time/,
    },
    {
      name: 'memory of many',
      line: () =>
        'for i in 1 2 3 4 5 6; do (head -c 80000000 /dev/zero | tail -c 79000000 | sleep 30) & done; wait',
      endsBy: /memory|time/,
    },
    {
      name: 'the work folder',
      line: () => 'head -c 50000000 /dev/zero > a; test "$(stat -c %s a)" -gt 10000000 && echo GOT',
      endsBy: /exit|time/,
    },
    {
      name: '/tmp',
      line: () =>
        'head -c 900000000 /dev/zero > /tmp/a; test "$(stat -c %s /tmp/a)" -gt 200000000 && echo GOT',
      endsBy: /exit|time/,
    },
    {
      name: 'many files',
      line: () => 'i=0; while [ $i -lt 3000 ]; do : > f$i; i=$((i+1)); done',
      endsBy: /exit|time/,
    },
    {
      name: 'a deep folder',
      line: () =>
        'i=0; while [ $i -lt 300 ]; do mkdir d 2>/dev/null && cd d; i=$((i+1)); done; : > x',
      endsBy: /exit|time/,
    },
    { name: 'a flood of output', line: () => 'yes', endsBy: /output|time/ },
    { name: 'time', line: () => 'while :; do :; done', endsBy: /time/ },
    {
      name: 'a process that ignores its end',
      line: () => `trap '' TERM INT HUP; sleep 60`,
      endsBy: /time/,
    },
    {
      name: 'a process that leaves its group',
      line: () => `setsid sh -c 'sleep 60' & echo left`,
      endsBy: /exit|time/,
    },
    {
      name: 'open files',
      line: () =>
        `${node("const f=[];try{for(;;)f.push(require('fs').openSync('/dev/null'))}catch{};if(f.length>2000)console.log('GOT')")}`,
      endsBy: /exit|time/,
    },
  ],
};
