package io.lifeline.console.access;

import java.util.List;

/**
 * What a new token shall be. What is null is as the issuer's own.
 *
 * @param until a time of ISO 8601; null for 30 days, or the issuer's own end if that is earlier
 */
public record TokenRequest(String name, String role, String onBehalfOf, List<String> types, List<String> programs,
    String resolution, String until) {}
