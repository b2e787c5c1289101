import { describe, expect, it } from 'vitest';
import {
  advised,
  DrayError,
  fromErrorRecord,
  messageWithoutAdvice,
  receivedError,
  toErrorRecord,
} from './error.ts';

describe('Advice', () => {
  const error = new DrayError('noCredentials', 'There is no token.', {
    data: { address: 'dray://nas:7370' },
    advice: 'Run "dray login nas".',
    command: 'dray login nas',
  });

  it('ends the message, and can be removed from it after it has crossed threads', () => {
    expect(error.message).toBe('There is no token. Run "dray login nas".');
    const arrived = fromErrorRecord(structuredClone(toErrorRecord(error)));
    expect(arrived.message).toBe(error.message);
    expect(messageWithoutAdvice(arrived)).toBe('There is no token.');
    expect(arrived.data.command).toBe('dray login nas');
    const { advice, message } = advised('It was cut off.', 'Run it again.');
    expect(messageWithoutAdvice({ message, data: { advice } })).toBe('It was cut off.');
  });

  it('of another machine is dropped', () => {
    expect(receivedError({ ...toErrorRecord(error), code: 'io' }).data).toEqual({});
  });
});
