import { strict as assert } from 'node:assert';
import { headerValues, type Answer } from './conversation.js';

/** The target of the Link to the next page, if there is one. */
export function nextTarget(answer: Answer): string | undefined {
  const [link] = headerValues(answer, 'Link');
  const target = link === undefined ? undefined : /^<([^<>]+)>; rel="next"$/.exec(link)?.[1];
  assert.equal(target === undefined, link === undefined, `no Link to a next page: ${link}`);
  return target;
}
