/**
 * The service over HTTP. An {@code Operation} is one declaration of a route, what it accepts, and its documentation;
 * classes whose names end with {@code Operations} declare those of one subject.
 */
package io.lifeline.console.web;
