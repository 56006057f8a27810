/** The keys, in a dialog: made from the table of pages, so that a new page is in it. */
import { Modal } from '../parts/modal.tsx';
import { pages } from './pages.ts';

const others: [string[], string][] = [
  [['⌘K', 'Ctrl K'], 'Go anywhere, find, do'],
  [['j', 'k'], 'Next and previous row'],
  [['Enter'], 'Open the row'],
  [['/'], 'Find on this page'],
  [['Ctrl Enter'], 'Send a message'],
  [['Esc'], 'Close a dialog'],
  [['?'], 'These keys'],
];

export const KeysHelp = ({ onClose }: { onClose: () => void }) => (
  <Modal title="Keys" className="wide" onClose={onClose}>
    <div className="keys">
      <dl>
        {others.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <dl>
        {pages.map(
          (p) =>
            p.nav !== null && (
              <div key={p.path}>
                <dt>
                  <kbd>g</kbd>
                  <kbd>{p.nav.key}</kbd>
                </dt>
                <dd>{p.nav.label}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
    <div className="dialog-actions">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Modal>
);
