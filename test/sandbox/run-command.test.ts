/** A command in a sandbox: its folder goes in and comes back, and whatever it does, it ends within its limits. */
import { folderWith, QUICK, sh, textsOf } from './folders.js';
import { whereIsolated } from './where-isolated.js';

whereIsolated('a command in a sandbox', (isolation) => {
  test('finds its work folder, changes it, and hands it back', async () => {
    const folder = folderWith({ 'a.txt': 'one\n', 'src/b.txt': 'two\n' });
    const line =
      'cat a.txt src/b.txt; echo three > src/c.txt; rm a.txt; mkdir -p e/f; ln -s b.txt src/l; echo oh >&2; exit 3';
    const ran = await sh(isolation, line, { folder });
    expect(ran.end).toMatchObject({
      endedBy: 'exit',
      exitCode: 3,
      stdout: { text: 'one\ntwo\n', omitted: 0 },
      stderr: { text: 'oh\n' },
    });
    expect(textsOf(ran, folder)).toEqual({
      'src/b.txt': 'two\n',
      'src/c.txt': 'three\n',
      'src/l': '-> b.txt',
      'e/f': '/',
    });
    expect(ran.fresh.size).toBe(1);
  });

  test('that ends all processes is told so, in words of the command', async () => {
    await expect(sh(isolation, 'kill -9 -1; kill -9 1; sleep 60')).rejects.toThrow(
      /^The sandbox did not answer\. All of its processes ended before one told how the command ended\./,
    );
  });

  test('ends at its time, and what it did until then is kept', async () => {
    const ran = await sh(isolation, 'echo begun > a; sleep 60', { limits: { timeMs: 3_000 } });
    expect(ran.end).toMatchObject({ endedBy: 'time', exitCode: null });
    expect(textsOf(ran)).toEqual({ a: 'begun\n' });
  });

  test('is stopped from outside', async () => {
    const stop = new AbortController();
    const running = sh(isolation, 'echo begun > a; sleep 60', { signal: stop.signal });
    setTimeout(() => stop.abort(), 600);
    expect((await running).end).toMatchObject({ endedBy: 'stop' });
  });

  test('leaves no process behind, and waits for none', async () => {
    const ran = await sh(
      isolation,
      '(setsid sh -c "sleep 1; echo late > late; sleep 60") & echo done',
    );
    expect(ran.end).toMatchObject({ endedBy: 'exit', exitCode: 0, stdout: { text: 'done\n' } });
    expect(textsOf(ran)).toEqual({});
  });

  test('keeps the beginning and the end of what it writes, and is ended for a flood', async () => {
    const some = await sh(isolation, 'seq 1 20000; echo last', { limits: { outputBytes: 2_000 } });
    expect(some.end.stdout.text).toMatch(/^1\n2\n[^]*\[… \d+ bytes …\]\n[^]*20000\nlast\n$/);
    expect(some.end.stdout.text.length).toBeLessThan(2_100);
    const flood = await sh(isolation, 'yes', { limits: { floodBytes: 5_000_000 } });
    expect(flood.end).toMatchObject({ endedBy: 'output' });
  });

  test('is ended for memory, also that of many processes', async () => {
    const eat = 'head -c 90000000 /dev/zero | tail -c 89000000 | sleep 30 &';
    const ran = await sh(isolation, `${eat} ${eat} ${eat} ${eat} wait`);
    expect(ran.end).toMatchObject({ endedBy: 'memory' });
  });

  test('multiplies only as far as its limit, and all that it begot end with it', async () => {
    const bomb = 'b() { b | b & }; b; sleep 2; ls -d /proc/[0-9]* | wc -l';
    const ran = await sh(isolation, bomb, { limits: { timeMs: 5_000 } });
    expect(ran.end.stderr.text).toMatch(/fork/i);
    if (ran.end.exitCode === 0) expect(Number(ran.end.stdout.text)).toBeLessThan(70);
  });

  test('cannot fill what it writes to, and a folder that is too large is not kept', async () => {
    const fill =
      'i=0; while head -c 900000 /dev/zero > f$i; do i=$((i+1)); done; head -c 1000000000 /dev/zero > /tmp/x';
    const ran = await sh(isolation, fill);
    expect(ran.end.stderr.text).toMatch(/No space left/);
    expect(ran.refused).toMatch(/more than 4000000 bytes/);
    expect(ran.entries.size).toBe(0);
    const many = await sh(isolation, 'for i in $(seq 300); do : > f$i; done');
    expect(many.refused).toMatch(/more than 200 files/);
  });

  test('hands back neither pipes nor sockets nor names that are no text', async () => {
    const ran = await sh(
      isolation,
      'mkfifo pipe; : > "$(printf "bad\\377")"; mkdir no; chmod 0 no; echo x > x; chmod 0 x; ln x y',
    );
    expect(ran.skipped).toBe(2);
    expect(textsOf(ran)).toEqual({ no: '/', x: 'x\n', y: 'x\n' });
  });

  test('that does not exist says so', async () => {
    const ran = await sh(isolation, 'no-such-program');
    expect(ran.end).toMatchObject({ endedBy: 'exit', exitCode: 127 });
    expect(QUICK.timeMs).toBe(20_000);
  });
});
