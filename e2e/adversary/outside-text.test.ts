/** A command that reads the largest answers that a store may send still ends at Ctrl-C. */
import { expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { startFakeS3 } from '../servers/fake-s3.ts';

/** The largest page that the client accepts. */
const PAGE_BYTES = 8 * 1024 * 1024;
const ANSWERS_BEFORE_STOP = 3;

function endlessPage(page: number): string {
  const key = (at: number) =>
    `p/${String(page).padStart(6, '0')}/${String(at).padStart(6, '0')}${'k'.repeat(800)}`;
  const contents = Array.from(
    { length: Math.floor((PAGE_BYTES - 1000) / 880) },
    (_, at) => `<Contents><Key>${key(at)}</Key><Size>1</Size></Contents>`,
  );
  return `<ListBucketResult>${more(page)}${contents.join('')}</ListBucketResult>`;
}

const more = (page: number) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${page}</NextContinuationToken>`;

const filled = (before: string, piece: string, after: string) =>
  before + piece.repeat((PAGE_BYTES - before.length - after.length - 100) / piece.length) + after;

it.each<[string, (page: number) => string]>([
  ['pages of 8 MiB without an end', endlessPage],
  // Reading any of these took hours when the parser searched for the end tag from every possible start.
  ['openings of a list', () => filled('<ListBucketResult>', '<ListBucketResult ', '>')],
  ['ends of a list and spaces', () => filled('<ListBucketResult>', '</ListBucketResult ', '')],
  ['white space', (page) => filled(`<ListBucketResult>${more(page)}`, ' ', 'x</ListBucketResult>')],
  ['objects without an end', () => filled('<ListBucketResult>', '<Contents><Key>', '</ListBucketResult>')],
])('Ctrl-C ends a listing of %s', async (_what, documentOf) => {
  await using store = await startFakeS3();
  let answers = 0;
  let stop = () => {};
  store.fault = ({ key, method }) => {
    if (key !== '' || method !== 'GET') return undefined;
    answers += 1;
    if (answers === ANSWERS_BEFORE_STOP) stop();
    return { document: documentOf(answers) };
  };
  const result = await runCli(['ls', `s3://${store.bucket}/p`], {
    environment: { ...store.environment },
    onStarted: (child) => {
      stop = () => child.kill('SIGINT');
    },
  });
  expect(result.exitCode).toBe(130);
  expect(result.stderr).toContain('stopping...');
});
