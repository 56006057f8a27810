/** A cause's title inside a sentence: only the first letter of the sentence goes, names keep theirs. */
import { expect, it } from 'vitest';
import { causes, inSentence } from './causes.ts';

it.each([
  [causes.auth_failed.title, 'the login was rejected by the model API'],
  [causes.tls_failure.title, 'TLS to the provider failed'],
  [causes.overloaded.title, 'the provider is overloaded'],
])('"%s" goes into a sentence as "%s"', (title, words) => expect(inSentence(title)).toBe(words));
