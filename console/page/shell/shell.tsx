/** The frame around every view: where one is, who is logged in, what is frozen, whether the desk answers. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { announcement } from '../data/announced.js';
import { absence } from '../data/connection.js';
import { waitingCount } from '../data/waiting-count.js';
import { useWatched } from '../data/watched.js';
import type { Person } from '../data/api-types.js';
import { whole } from '../parts/format.js';
import { may, type Access } from '../parts/rights.js';
import { Freezes } from './freezes.js';
import { LoginForm } from './login.js';
import { PersonMenu } from './person-menu.js';
import { Restored } from './restored.js';
import { placeOf, type Place } from './route.js';
import { usePath } from './use-address.js';
import { useLogin, type LoggingIn } from './use-login.js';
import { View } from './view.js';

export function Shell(): VNode {
  const path = usePath();
  const logging = useLogin();
  const { login } = logging;
  // The desk of a recorded run has nothing else.
  const isWhole = login.state !== 'known' || login.me.recording === undefined;
  const place = placeOf(path);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="Holdfast, inbox">
          <img src="/icon.svg" alt="" width="22" height="22" />
          Holdfast
        </a>
        {isWhole && (
          <Navigation place={place} me={login.state === 'known' ? login.me : undefined} />
        )}
        <div class="person">
          {isWhole && login.state === 'known' && (
            <PersonMenu key={login.number} me={login.me} changed={logging.begin} />
          )}
        </div>
      </header>
      <Absence />
      {isWhole && login.state === 'known' && <Restored key={login.number} />}
      {isWhole && login.state === 'known' && may(login.me, 'read') && (
        <Freezes key={login.number} />
      )}
      <Main logging={logging} place={place} />
      <Announcer />
    </>
  );
}

const RUN_VIEWS: readonly (Place['view'] | undefined)[] = ['runs', 'run', 'diff', 'failures'];
const GOAL_VIEWS: readonly (Place['view'] | undefined)[] = ['goals', 'goal', 'evidence', 'brief'];

interface NavigationProps {
  readonly place: Place | undefined;
  /** Undefined: nobody is logged in, or nobody knows yet. */
  readonly me: Person | undefined;
}

function Navigation({ place, me }: NavigationProps): VNode {
  const waiting = useWatched(waitingCount) ?? 0;
  const here = (isHere: boolean) => (isHere ? ({ 'aria-current': 'page' } as const) : {});
  const isFor = (access: Access): boolean => me === undefined || may(me, access);
  return (
    <nav aria-label="Main">
      <a href="/" {...here(place?.view === 'inbox')}>
        Inbox{' '}
        <span class="count" hidden={waiting === 0}>
          {whole(waiting)}
        </span>
      </a>
      {isFor('read') && (
        <>
          <a href="/runs" {...here(RUN_VIEWS.includes(place?.view))}>
            Runs
          </a>
          <a href="/goals" {...here(GOAL_VIEWS.includes(place?.view))}>
            Goals
          </a>
          <a href="/freezes" {...here(place?.view === 'freezes')}>
            Freezes
          </a>
        </>
      )}
      {me !== undefined && may(me, 'connectors') && (
        <a href="/connectors" {...here(place?.view === 'connectors')}>
          Connectors
        </a>
      )}
      {isFor('audit') && (
        <a href="/trail" {...here(place?.view === 'trail')}>
          Trail
        </a>
      )}
    </nav>
  );
}

/** Always there, because screen readers tell only changes of what they know. */
function Absence(): VNode {
  const said = useWatched(absence);
  return (
    <p class="connection" role="status" hidden={said === undefined}>
      {said}
    </p>
  );
}

function Announcer(): VNode {
  const { text, number } = useWatched(announcement);
  return (
    <p id="announcer" class="unseen" aria-live="polite">
      <span key={number}>{text}</span>
    </p>
  );
}

interface MainProps {
  readonly logging: LoggingIn;
  readonly place: Place | undefined;
}

function Main({ logging: { login, begin }, place }: MainProps): VNode {
  const main = useRef<HTMLElement>(null);
  const isKnown = login.state === 'known' && place !== undefined;
  const shown = isKnown ? `${login.number} ${place.key}` : undefined;
  useEffect(() => {
    if (shown === undefined) return;
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [shown]);
  return (
    <main id="main" tabIndex={-1} ref={main}>
      {login.state === 'token wanted' && <LoginForm wanted={login} done={begin} />}
      {login.state === 'no access' && (
        <div class="empty">
          <h1>No access</h1>
          <p>{login.why}</p>
        </div>
      )}
      {isKnown && <View key={shown} me={login.me} place={place} />}
      {login.state === 'known' && place === undefined && (
        <div class="empty">
          <h1>There is no such page</h1>
          <a href="/">Inbox</a>
        </div>
      )}
    </main>
  );
}
