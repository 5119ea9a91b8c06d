// Signing in with a token, and who is signed in.
import { useEffect, useRef, useState } from "preact/hooks";
import { signIn, signOut, type Status } from "./api";
import { shown } from "./text";

/** @param why what the console answered to a page that is not signed in */
export function SignIn({ why, done }: { why: string; done(): void }) {
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const token = useRef<HTMLInputElement>(null);
  useEffect(() => token.current?.focus(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(token.current!.value.trim());
      done();
    } catch (failure) {
      setError((failure as Error).message);
      token.current!.select();
    } finally {
      setBusy(false);
    }
  };
  return (
    <main>
      <form class="signin" onSubmit={submit}>
        <h2>Sign in</h2>
        <p>{shown(why, 300)}</p>
        <label for="token">Token</label>
        <input id="token" ref={token} type="password" required autocomplete="current-password" spellcheck={false} aria-describedby="token-hint" aria-invalid={error !== null} />
        <p class="hint" id="token-hint">An administrator issues one with <code>lifeline-console token issue</code>.</p>
        {error && <p class="error" role="alert">{shown(error, 300)}</p>}
        <button class="main" disabled={busy}>Sign in</button>
      </form>
    </main>
  );
}

/** Nothing for a console without login. */
export function User({ user, left }: { user: Status["user"]; left(): void }) {
  const [error, setError] = useState<string | null>(null);
  if (!user.until) {
    return null;
  }
  return (
    <p class="user">
      signed in as <bdi>{shown(user.name, 80)}</bdi> ({user.role}){user.onBehalfOf && <> for <bdi>{shown(user.onBehalfOf, 80)}</bdi></>},
      until <time dateTime={user.until}>{user.until.slice(0, 16).replace("T", " ")} UTC</time>
      {user.session && <button onClick={() => signOut().then(left, (failure: Error) => setError(failure.message))}>Sign out</button>}
      {error && <span class="error" role="alert">{shown(error, 300)}</span>}
    </p>
  );
}
