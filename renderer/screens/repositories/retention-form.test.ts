import { describe, expect, it } from 'vitest';
import { formOfPolicy, isSamePolicy, NO_RULES, policyOf } from './retention-form.ts';

describe('the rules of a retention policy', () => {
  it('are the same after they were shown', () => {
    const policy = {
      ...{ keepLast: 5, keepDaily: 7, keepWeekly: 4, keepMonthly: 12 },
      ...{ keepWithin: '1y6m', keepTags: ['v*', 'paper'] },
    };
    expect(policyOf(formOfPolicy(policy))).toEqual(policy);
    expect(isSamePolicy(policy, { ...policy })).toBe(true);
    expect(isSamePolicy(policy, { ...policy, keepLast: 6 })).toBe(false);
  });

  it.each([
    ['no rule', {}],
    ['zero', { last: '0' }],
    ['a half', { daily: '1.5' }],
    ['a word', { weekly: 'all' }],
    ['a duration without its unit', { last: '5', within: '30' }],
  ])('with %s are no policy', (_, fields) => {
    expect(policyOf({ ...NO_RULES, ...fields })).toBeUndefined();
  });

  it('may have spaces around them', () => {
    const form = { ...NO_RULES, last: ' 5 ', within: ' 30d ', tags: '  v*  ' };
    expect(policyOf(form)).toEqual({ keepLast: 5, keepWithin: '30d', keepTags: ['v*'] });
  });
});
