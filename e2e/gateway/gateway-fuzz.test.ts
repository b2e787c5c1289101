/**
 * Requests that no S3 client would send, pipelined over raw sockets. The gateway refuses each one or answers
 * it, never fails, reads nothing outside of the repository, and its memory stays bounded. The seed is fixed.
 */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { ask } from '../../engine/gateway/gateway.fixture.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { SECRET } from '../peers/peers-fuzz-requests.ts';
import { converse } from '../peers/peers-fuzz-socket.ts';
import { type GatewayProcess, startDrayGateway } from '../servers/dray-gateway.ts';
import { gatewayConversation } from './gateway-fuzz-requests.ts';

const SEED = 20_261_127;
const REQUESTS = runBudget({ short: 2_000, long: 50_000 });
const LANES = 8;
const RSS_MIB_MAX = 300;
/** Refusals that S3 defines. Any other status from 500 on is a failure. */
const REFUSALS_FROM_500 = new Set([501, 503]);

it(`${REQUESTS.toLocaleString('en')} malformed requests do no harm`, async () => {
  using sandbox = createSandbox();
  sandbox.write('outside/secret', SECRET);
  for (let at = 0; at < 30; at += 1) sandbox.write(`work/kept/${at}`, `content ${at}`);
  sandbox.write('work/1.txt', 'one');
  sandbox.write('work/empty', '');
  sandbox.write('work/large.bin', Buffer.alloc(2_000_000, 'large '));
  mkdirSync(sandbox.path('work/folder'));
  symlinkSync('1.txt', `${sandbox.path('work')}/link`);
  symlinkSync('../outside', `${sandbox.path('work')}/way-out`);
  const work = testContext(sandbox.path('work'));
  await initWorkspace(work, { remoteUrl: sandbox.path('store') });
  await push(work, {});
  await tag(work, { name: 'v1' });
  const store = describeTree(sandbox.path('store'));
  const start = (home: string, ...more: string[]) =>
    startDrayGateway({ parameters: [`data=${sandbox.path('store')}`, ...more], home: sandbox.path(home) });
  await using open = await start('home-open', '--anonymous');
  await using signed = await start('home');
  const { accessKeyId = '', secretAccessKey = '' } = signed.event;
  const statuses = new Map<number, number>();
  let answered = 0;
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const gateway = lane % 2 === 0 ? signed : open;
      const keys = gateway === signed ? { accessKeyId, secretAccessKey } : undefined;
      while (answered < REQUESTS) {
        const host = `127.0.0.1:${gateway.port}`;
        const requests = await gatewayConversation(SEED + next++, host, keys);
        for (const { answer, request } of await converse(gateway.port, requests)) {
          answered += 1;
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const shown = () =>
            `${request.bytes.toString('latin1').slice(0, 900)}\n-> ${answer.status} ${answer.body.toString('latin1').slice(0, 300)}`;
          if (answer.status >= 500 && !REFUSALS_FROM_500.has(answer.status)) expect.fail(shown());
          if (keys && answer.status < 300 && !request.hasToken) expect.fail(shown());
          if (answer.body.includes(SECRET) || answer.body.includes('root:')) expect.fail(shown());
        }
      }
    }),
  );
  const peaks = [open, signed].map(rssPeakMib);
  const shown = [...statuses]
    .sort(([left], [right]) => left - right)
    .map(([status, count]) => `${status}: ${count}`);
  console.log(
    `gateway fuzz: ${answered.toLocaleString('en')} answers, seed ${SEED}, ${next.toLocaleString('en')} connections, at most ${Math.max(...peaks)} MiB; ${shown.join(', ')}`,
  );
  // Ones that refuse everything must not pass.
  for (const status of [200, 206, 304, 400, 403, 404])
    expect(statuses.get(status), `${status}`).toBeGreaterThan(0);
  for (const { child, printed, stderr } of [open, signed]) {
    expect(child.exitCode).toBeNull();
    expect(printed()).not.toContain('requestFailed');
    expect(stderr()).toBe('');
  }
  expect((await ask(open.port, '/data/main/kept/7')).body.toString()).toBe('content 7');
  for (const peak of peaks) expect(peak).toBeLessThan(RSS_MIB_MAX);
  expect(describeTree(sandbox.path('store'))).toEqual(store);
});

/** 0 where the system does not say. */
function rssPeakMib({ child }: GatewayProcess): number {
  try {
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kib) / 1024);
  } catch {
    return 0;
  }
}
