/** What the plugins share; each brings its own copy, since Connect gives every plugin a class loader of its own. */
package io.lifeline.connect.common;
