package io.lifeline.console.web;

import io.javalin.http.Context;
import io.javalin.http.Cookie;
import io.javalin.http.SameSite;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Login;
import io.lifeline.console.access.Refusal;
import io.lifeline.console.access.Role;
import java.security.cert.X509Certificate;

/** Access over HTTP: reads from a request who sends it, and refuses who may not send it. */
final class Gate {
  private static final String LOGIN = Gate.class.getName();
  private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";

  private final Access access;

  Gate(Access access) {
    this.access = access;
  }

  /** Identifies the sender, who needs that role to do this. */
  void admit(Context context, Role role, String what) {
    if (role == null) {
      return;
    }
    Login login = access.login(new Access.Shown(context.header("Authorization"), context.cookie(cookieName(context)),
        certificate(context), from(context)));
    context.attribute(LOGIN, login);
    Identity who = login.identity();
    if (!who.role().includes(role)) {
      throw new Refusal(403, what + " needs role " + role + ", but " + who.name() + " has role " + who.role()
          + ": use a token with that role");
    }
  }

  /** Returns who was admitted; null if nobody was. */
  static Login login(Context context) {
    return context.attribute(LOGIN);
  }

  /** Returns why a login is over; null if it is not. */
  String ended(Login login) {
    try {
      return access.ended(login);
    } catch (Refusal e) {
      return e.getMessage();
    }
  }

  void signIn(Context context, String token) {
    context.cookie(cookie(context, access.signIn(token, from(context))));
  }

  void signOut(Context context) {
    String session = context.cookie(cookieName(context));
    if (session != null) {
      access.signOut(session);
    }
    Cookie none = cookie(context, "");
    none.setMaxAge(0);
    context.cookie(none);
  }

  /** Lasts until the browser ends; the session itself knows when it is over. No script can read it. */
  private static Cookie cookie(Context context, String value) {
    Cookie cookie = new Cookie(cookieName(context), value);
    cookie.setPath("/");
    cookie.setHttpOnly(true);
    cookie.setSecure(encrypted(context));
    cookie.setSameSite(SameSite.STRICT);
    return cookie;
  }

  /**
   * Cookies belong to a host, whatever the port, so the port is in the name. Because of the prefix, browsers take it
   * from this host alone. Without TLS, which is only possible on a loopback address, they would refuse it.
   */
  private static String cookieName(Context context) {
    return (encrypted(context) ? "__Host-" : "") + "lifeline-" + context.req().getLocalPort();
  }

  private static boolean encrypted(Context context) {
    return context.req().isSecure();
  }

  private static String from(Context context) {
    return context.ip().replaceAll("[\\[\\]]", "");
  }

  private static X509Certificate certificate(Context context) {
    Object chain = context.req().getAttribute(CERTIFICATES);
    return chain instanceof X509Certificate[] certificates && certificates.length > 0 ? certificates[0] : null;
  }
}
