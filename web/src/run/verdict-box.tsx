/** How it ended: cause, what was said, how sure that is, on what evidence, and what can be done. */
import type { ExecutionBody } from '../../../src/client/wire.ts';
import { adviceFor, causeTitle } from '../now/ended.tsx';
import { Plain } from '../parts/text.tsx';
import { below } from '../words/plain.ts';
import { attentionInWords } from '../words/reasons.ts';

const sure = { proven: 'proven', likely: 'likely', unknown: 'not known for sure' } as const;

export const VerdictBox = ({ row }: { row: ExecutionBody }) => {
  const { verdict } = row;
  const advice = adviceFor(row);
  const said = below(causeTitle(row.cause), row.error);
  const meta = [
    row.cause,
    verdict === null ? null : sure[verdict.confidence],
    verdict?.mechanism ?? null,
    verdict?.retryable ? 'worth a retry' : null,
  ].filter((t) => t !== null);
  return (
    <section className="verdict" data-status={row.status} aria-label="Verdict">
      <h3>{row.status === 'success' ? 'Success' : causeTitle(row.cause)}</h3>
      <p className="meta">{meta.join(' · ')}</p>
      {said !== '' && (
        <p className="said">
          <Plain text={said} block />
        </p>
      )}
      {verdict !== null && verdict.evidence.length > 0 && (
        <ul className="evidence" aria-label="Evidence">
          {verdict.evidence.map((line) => (
            <li key={line}>
              <Plain text={line} block />
            </li>
          ))}
        </ul>
      )}
      {advice !== '' && <p className="said">{advice}</p>}
      {(row.attention.length > 0 || row.secondary.length > 0) && (
        <div className="chips">
          {row.attention.map((flag) => (
            <span key={flag} className="chip flag">
              {attentionInWords(flag)}
            </span>
          ))}
          {row.secondary.map((cause) => (
            <span key={cause} className="chip">
              also: {causeTitle(cause)}
            </span>
          ))}
        </div>
      )}
    </section>
  );
};
