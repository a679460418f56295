ALTER TABLE "payments"."payments" RENAME COLUMN "session_id" TO "checkout_id";--> statement-breakpoint
ALTER TABLE "payments"."payments" RENAME COLUMN "look_at" TO "next_check_at";--> statement-breakpoint
ALTER TABLE "payments"."payments" RENAME COLUMN "looks" TO "checks";--> statement-breakpoint
-- Renamed and not made anew: at no moment may two payments have one checkout.
ALTER TABLE "payments"."payments" RENAME CONSTRAINT "payments_session" TO "payments_checkout";--> statement-breakpoint
ALTER INDEX "payments"."payments_look" RENAME TO "payments_next_check";
