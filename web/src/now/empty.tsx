/** An installation without agents: what to type next. The demo needs no key; the three lines run a real agent. */
import { Command } from '../parts/command.tsx';

export const Empty = () => (
  <section className="section" aria-labelledby="start-here">
    <header>
      <h2 id="start-here">Start here</h2>
    </header>
    <div className="empty">
      <h3>See it work, without a key</h3>
      <p>Five agents that end in five ways: a success, an out-of-memory, a kill, a rejected login, a usage limit.</p>
      <Command text="bin/drover demo" />
      <h3>Run Claude Code</h3>
      <p>
        With Claude Code installed and signed in, an agent for a git repository; each run works in a tree of its own.
      </p>
      <div className="commands">
        <Command text="bin/drover agent add coder --workspace ~/my-project" />
        <Command text={'bin/drover run coder "Add a line about Drover to the README"'} />
        <Command text="bin/drover ps" />
      </div>
    </div>
  </section>
);
