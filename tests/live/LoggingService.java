// SPDX-License-Identifier: GPL-3.0-or-later
// Logs by java.util.logging and by log4j, as shop.jul and shop.log4j, until it is killed.

public class LoggingService {
	public static void main(String[] arguments) throws Exception {
		java.util.logging.Logger jul = java.util.logging.Logger.getLogger("shop.jul");
		org.apache.log4j.Logger log4j = org.apache.log4j.Logger.getLogger("shop.log4j");

		jul.setLevel(java.util.logging.Level.ALL);
		jul.setUseParentHandlers(false);
		jul.addHandler(new org.lttng.ust.agent.jul.LttngLogHandler());
		log4j.setLevel(org.apache.log4j.Level.ALL);
		log4j.setAdditivity(false);
		log4j.addAppender(new org.lttng.ust.agent.log4j.LttngLogAppender());
		for (int i = 0;; i++) {
			jul.info("request " + i + " begins: buy");
			log4j.info("request " + i + " begins: buy");
			Thread.sleep(2);
			jul.warning("request " + i + " took 2 ms for alice");
			log4j.warn("request " + i + " took 2 ms for alice");
		}
	}
}
