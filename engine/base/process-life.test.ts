import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAlive } from './process-life.ts';

describe('isAlive', () => {
  it('is true for this process, and false for one that has ended', async () => {
    expect(isAlive(process.pid)).toBe(true);
    const child = spawn(process.execPath, ['--version']);
    const pid = child.pid!;
    await once(child, 'exit');
    expect(isAlive(pid)).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'is false for one that has ended and whose parent has not taken notice',
    async () => {
      // The shell becomes a program that never waits for children.
      const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600']);
      const read = (pid: number, name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1');
      const until = async (holds: () => boolean) => {
        while (!holds()) await new Promise(setImmediate);
      };
      try {
        const [line] = await once(parent.stdout, 'data');
        const pid = Number(String(line));
        await until(() => read(parent.pid!, 'comm') === 'sleep\n');
        expect(isAlive(pid)).toBe(true);
        process.kill(pid, 'SIGKILL');
        await until(() => /\) Z /.test(read(pid, 'stat')));
        expect(isAlive(pid)).toBe(false);
        expect(isAlive(parent.pid!)).toBe(true);
      } finally {
        parent.kill();
      }
    },
  );
});
